import type { Agent } from "./agent.js";
import type { ModelOptions, ModelRef, ToolSpec } from "./chat-model.js";
import type { HierarchicalConstraints } from "./constraints.js";
import type { DelegationPolicy, ManagerPromptStrategy } from "./delegation.js";
import type { Graph } from "./graph.js";
import type { CaptureMode } from "./capture.js";
import type { CostConfiguration, CostEstimate } from "./cost.js";
import type { Loop } from "./loop.js";
import type { MemoryOptions, MemoryStore } from "./memory.js";
import type { ReflectionStore } from "./reflection.js";
import type { ReviewHandler } from "./review.js";
import type { Phase } from "./phase.js";
import type { EnsembleCallbacks, EnsembleEvent, EnsembleListener } from "./events.js";
import type { AgentSynthesizer } from "./executors.js";
import type { KernelApi, Plugin } from "./plugin.js";
import type { RateLimit } from "./rate-limit.js";
import type { AnyTask } from "./task.js";
import type { TraceExporter } from "./trace.js";
import type { Inputs, InputSchema, JsonSchema } from "./types.js";

/** The name of a workflow: one of the built-in ones, or of a plugin's. */
export type Workflow = "SEQUENTIAL" | "PARALLEL" | "HIERARCHICAL" | (string & {});
export const Workflow = Object.freeze({
  SEQUENTIAL: "SEQUENTIAL",
  PARALLEL: "PARALLEL",
  HIERARCHICAL: "HIERARCHICAL",
} as const);

/** A text of a prompt: `{name}` stands for a value; or a function of the values. */
export type PromptTemplate = string | ((values: Readonly<Record<string, unknown>>) => string);

/** A graph of whatever states. Not `Graph<string>`: predicates take the states, so no graph of definite ones would be one. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyGraph = Graph<any>;

/** Options of an ensemble. */
export interface EnsembleOptions extends EnsembleCallbacks {
  /** Identifies the ensemble to observers: at most 64 letters, digits, `-` and `_`. Default: none. */
  readonly name?: string | undefined;
  /** States for observers what the ensemble does. Default: none. */
  readonly description?: string | undefined;
  /** Workers without a task of their own, for delegation. */
  readonly agents?: readonly Agent[] | undefined;
  readonly tasks?: readonly AnyTask[] | undefined;
  /** Named groups of tasks with an order between them. Not together with `tasks` or `loops`. */
  readonly phases?: readonly Phase[] | undefined;
  /** Repeated tasks; SEQUENTIAL runs them after `tasks`. */
  readonly loops?: readonly Loop[] | undefined;
  /** A state machine; excludes tasks, loops and phases. */
  readonly graph?: AnyGraph | undefined;
  /** For tasks whose agent and own options name none. */
  readonly model?: ModelRef | undefined;
  /** Holds for the calls of the ensemble's own model; tasks and agents with a model or a limit of their own are unaffected. */
  readonly rateLimit?: RateLimit | undefined;
  /** Default: PARALLEL when a task's `context` holds another task of the ensemble, else SEQUENTIAL. */
  readonly workflow?: Workflow | undefined;
  /** Makes agents for tasks without one. Default: from the description, without a model. */
  readonly agentSynthesizer?: AgentSynthesizer | undefined;
  /** Values for template variables; those given to `run()` win. */
  readonly inputs?: Inputs | undefined;
  /** Checks the inputs of a run, those above included, before anything is spent. Also the form that the command line and MCP clients see. Default: anything. */
  readonly inputType?: InputSchema<unknown> | undefined;
  /** PARALLEL: `FAIL_FAST` (default) stops everything at the first failure, `CONTINUE_ON_ERROR` finishes what can be finished. */
  readonly parallelErrorStrategy?: "FAIL_FAST" | "CONTINUE_ON_ERROR" | undefined;
  /** PARALLEL: how many tasks run at once. Default: no limit. */
  readonly maxConcurrency?: number | undefined;
  /** HIERARCHICAL: the manager's model. Default: the ensemble's, else the container's, else the first worker's. */
  readonly managerModel?: ModelRef | undefined;
  /** HIERARCHICAL: for the manager's calls. Default: what the model does by itself. */
  readonly managerModelOptions?: ModelOptions | undefined;
  /** HIERARCHICAL: tool calls the manager may make. Default 20. */
  readonly managerMaxIterations?: number | undefined;
  readonly managerPromptStrategy?: ManagerPromptStrategy | undefined;
  readonly hierarchicalConstraints?: HierarchicalConstraints | undefined;
  readonly delegationPolicies?: readonly DelegationPolicy[] | undefined;
  /** How deep delegates may delegate. Default 3. */
  readonly maxDelegationDepth?: number | undefined;
  /** Replaces prompt texts by name; see `docs/prompts.md` for the names. */
  readonly prompts?: Readonly<Record<string, PromptTemplate>> | undefined;
  /**
   * Whether answers are streamed as `token` events. Default: in `stream()`, when `onToken` is given, and while an observer of the kernel wants tokens (`events.on`).
   * Tokens come before the output guardrails have judged; `"guarded"` holds them back until the task's output is accepted, and drops those of a refused one.
   */
  readonly streaming?: boolean | "guarded" | undefined;
  /** The team's own memory: of this run, of earlier runs, of things known by name. */
  readonly memory?: MemoryOptions | undefined;
  /** Where the `memory` scopes of tasks are kept. */
  readonly memoryStore?: MemoryStore | undefined;
  /** What a store that fails does: `fail` (default) fails the task, `warn` goes on without, with a `run_warning`. Finished work is kept either way. */
  readonly memoryErrors?: "fail" | "warn" | undefined;
  /** Asked at every review; see `reviewPolicy` and the reviews of tasks. */
  readonly reviewHandler?: ReviewHandler | undefined;
  /** Which tasks without a `review` of their own are reviewed once done. Default NEVER. */
  readonly reviewPolicy?: "NEVER" | "AFTER_EVERY_TASK" | "AFTER_LAST_TASK" | undefined;
  /** Keeps what is learnt from tasks with `reflect`. Default: for as long as the ensemble lives, with a `run_warning`. */
  readonly reflectionStore?: ReflectionStore | undefined;
  /** How structured data stands in prompts. TOON takes fewer tokens for lists of like objects; others are contributions to `Tokens.ContextFormat`. Default JSON. */
  readonly contextFormat?: "JSON" | "TOON" | (string & {}) | undefined;
  /** Prices, for `cost` in usage, metrics and trace. */
  readonly costConfiguration?: CostConfiguration | undefined;
  /** How much the trace keeps. Default: the container's `DefaultCaptureMode`, else `AGENTENSEMBLE_CAPTURE_MODE`, else OFF. */
  readonly captureMode?: CaptureMode | undefined;
  readonly traceExporter?: TraceExporter | readonly TraceExporter[] | undefined;
  /** Characters of a tool's output that are sent to the model; -1 (default) for all. The trace keeps the full text. */
  readonly maxToolOutputLength?: number | undefined;
  /** Time for one tool call in milliseconds, for tools that set none themselves. Default: none. */
  readonly toolTimeoutMs?: number | undefined;
  /** Characters of tool input and output in log lines; -1 for all, 0 for none. Default 200. */
  readonly toolLogTruncateLength?: number | undefined;
  /** Logs prompts and responses of all agents at level info. Default false. */
  readonly verbose?: boolean | undefined;
  readonly listeners?: readonly EnsembleListener[] | undefined;
  /** Sees every event. */
  readonly on?: ((event: EnsembleEvent) => void) | undefined;
  /** Added to the standard ones. Not together with a kernel that has booted. */
  readonly plugins?: readonly Plugin[] | undefined;
  /** Default: one of the ensemble's own. */
  readonly kernel?: KernelApi | undefined;
}

/** What `ensemble.explain()` gives: what would be sent, without sending it. */
export interface Explanation {
  readonly workflow: string;
  /** The form of the inputs as JSON Schema, where the ensemble has an `inputType`. */
  readonly inputs?: JsonSchema;
  /** Those of the plan, then those that the workflow adds. */
  readonly tasks: readonly ExplainedTask[];
  /** Of the first call of each task, added up. */
  readonly estimatedInputTokens: number;
  /** What a run costs at most; missing without prices, and where nothing limits it: see `unbounded`. */
  readonly costBound?: CostEstimate;
  /** With prices: why there is no upper bound. Each names the task and what would give it one. */
  readonly unbounded: readonly string[];
}

/** One task of an explanation. The prompts are those of its first call; outputs of earlier tasks and what is read from memory are shown as placeholders. */
export interface ExplainedTask {
  readonly taskId: string;
  readonly description: string;
  readonly agentRole: string;
  /** Whether a model will make the agent, so that its prompt is not known yet. */
  readonly synthesizedByModel: boolean;
  readonly dependsOn: readonly string[];
  /** `provider:model`; empty for a task that calls none. */
  readonly model: string;
  readonly systemPrompt: string;
  readonly userPrompt: string;
  /** The names of `toolSpecs`. */
  readonly tools: readonly string[];
  /** The tools as the model sees them; those of dynamic providers are known only when the task starts. */
  readonly toolSpecs: readonly ToolSpec[];
  readonly estimatedInputTokens: number;
  /** How many model calls a run makes for it at most, not counting tries that fail. */
  readonly maxModelCalls: number;
}
