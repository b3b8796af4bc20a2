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
import type { PlannedTask } from "./plan.js";
import type { Phase } from "./phase.js";
import type { EnsembleCallbacks, EnsembleEvent, EnsembleListener } from "./events.js";
import type { AgentSynthesizer } from "./executors.js";
import type { KernelApi, Plugin } from "./plugin.js";
import type { RunInfo } from "./run-info.js";
import type { RateLimit } from "./rate-limit.js";
import type { AnyTask } from "./task.js";
import type { AnyTool } from "./tool.js";
import type { TraceExporter } from "./trace.js";
import type { Inputs, InputSchema, JsonSchema } from "./types.js";

/** The name of a workflow: a built-in one, or one of a plugin. */
export type Workflow = "SEQUENTIAL" | "PARALLEL" | "HIERARCHICAL" | (string & {});
export const Workflow = Object.freeze({
  SEQUENTIAL: "SEQUENTIAL",
  PARALLEL: "PARALLEL",
  HIERARCHICAL: "HIERARCHICAL",
} as const);

/**
 * A prompt text in which `{name}` is replaced by a value, or a function that returns the text. The
 * function can read values of the run, for instance `run.get(User)`.
 */
export type PromptTemplate =
  string | ((values: Readonly<Record<string, unknown>>, run: RunInfo) => string);

/**
 * A graph with any states. `Graph<string>` would not accept a graph with known states, because
 * predicates take the states as parameters.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyGraph = Graph<any>;

/** Settings of a shared task or tool. */
export interface ShareSettings {
  /** The description for callers. Default: the description of the task or tool. */
  readonly description?: string | undefined;
  /** Distinguishes incompatible versions of one name while services are updated. */
  readonly version?: string | undefined;
  /** Names of groups for `NetworkTools.tagged`. Default: none. */
  readonly tags?: readonly string[] | undefined;
  /** Time limit of one execution in milliseconds. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Time for which results are kept, in milliseconds. Default: `resultTtlMs` of the service. */
  readonly resultTtlMs?: number | undefined;
}
export type SharedTask = AnyTask | (ShareSettings & { readonly task: AnyTask });
export type SharedTool = AnyTool | (ShareSettings & { readonly tool: AnyTool });

/** The planned times of a schedule. Created by `Schedule.cron` or `Schedule.every`. */
export type ScheduleTimes =
  { readonly cron: string; readonly timezone?: string | undefined } | { readonly everyMs: number };

/** A shared task that the service requests at planned times. */
export interface ScheduleOptions {
  /** Unique in the ensemble: at most 64 letters, digits, `-` and `_`. */
  readonly name: string;
  readonly schedule: ScheduleTimes;
  /** The name of a shared task. */
  readonly task: string;
  readonly inputs?: Inputs | undefined;
  /**
   * The topic to which the result is published as `{ schedule, at, text, parsed }`. Default: none.
   */
  readonly broadcastTo?: string | undefined;
  /**
   * `last`: when the service starts, it requests the latest missed planned time. Default `none`.
   */
  readonly catchUp?: "none" | "last" | undefined;
  /** `skip` (default): omits a planned time if the previous request has no result yet. */
  readonly overlap?: "skip" | "allow" | undefined;
}

/**
 * Distributes the tasks of a requested run over all instances of a service, in units of several
 * tasks.
 */
export interface SpreadOptions {
  /**
   * The tasks to distribute. `map`: the map tasks of a map-reduce. A function selects from all
   * planned tasks. Tasks with `context`, `memory`, `reflect` or a handler are never distributed.
   */
  readonly tasks: "map" | ((task: Pick<PlannedTask, "id" | "task" | "mapReduce">) => boolean);
  /** Number of tasks in one unit. Default 20. */
  readonly size?: number | undefined;
  /** Maximum number of concurrent units in this process. Default 4. */
  readonly concurrency?: number | undefined;
}

/** The options of an ensemble that make it a service. */
export interface ServiceOptions {
  /** Tasks that other programs may request, by name. */
  readonly shareTasks?: Readonly<Record<string, SharedTask>> | undefined;
  /** Tools that other programs may call, by name. A task and a tool must not have the same name. */
  readonly shareTools?: Readonly<Record<string, SharedTool>> | undefined;
  /** Whether other programs may request a run of the ensemble, as `run`. Default false. */
  readonly shareRun?: boolean | undefined;
  /** Shared tasks that the service requests at planned times. Names are unique. */
  readonly schedules?: readonly ScheduleOptions[] | undefined;
  /**
   * Distributes tasks of requested runs over all instances, in units: see `docs/workers.md`.
   * `maxConcurrency` limits the number of tasks that are distributed at the same time. Default: one
   * process executes a run.
   */
  readonly spread?: SpreadOptions | undefined;
  /**
   * Time limit of requests in execution when the service stops, in milliseconds. Default 300,000.
   */
  readonly drainTimeoutMs?: number | undefined;
  /** Maximum number of requests in execution in this process. Default 10. */
  readonly maxConcurrentRequests?: number | undefined;
  /**
   * Maximum number of waiting requests. Further requests over HTTP and A2A, from webhooks, from
   * schedules and of `network()` are rejected with AT_CAPACITY. Default 1,000.
   */
  readonly maxQueuedRequests?: number | undefined;
}

/** Options of an ensemble. */
export interface EnsembleOptions extends EnsembleCallbacks, ServiceOptions {
  /**
   * Identifies the ensemble to observers: at most 64 letters, digits, `-` and `_`. Default: none.
   */
  readonly name?: string | undefined;
  /** Describes the purpose of the ensemble to observers. Default: none. */
  readonly description?: string | undefined;
  /** Agents for delegation, in addition to the agents of the tasks. Default: none. */
  readonly agents?: readonly Agent[] | undefined;
  readonly tasks?: readonly AnyTask[] | undefined;
  /**
   * Named groups of tasks with an order between the groups. Not allowed together with `tasks` or
   * `loops`.
   */
  readonly phases?: readonly Phase[] | undefined;
  /** Groups of repeated tasks. SEQUENTIAL runs loops after `tasks`. */
  readonly loops?: readonly Loop[] | undefined;
  /** A state machine. Not allowed together with tasks, loops and phases. */
  readonly graph?: AnyGraph | undefined;
  /** The model of tasks for which neither the task nor its agent has a model. */
  readonly model?: ModelRef | undefined;
  /**
   * A rate limit of calls to the ensemble's model. Does not apply to tasks and agents with a model
   * or a rate limit.
   */
  readonly rateLimit?: RateLimit | undefined;
  /**
   * The order of the tasks. Default: PARALLEL if a task has another task of the ensemble in its
   * `context`, else SEQUENTIAL.
   */
  readonly workflow?: Workflow | undefined;
  /**
   * Creates an agent for each task without an agent. Default: creates the agent from the
   * description, without a model call.
   */
  readonly agentSynthesizer?: AgentSynthesizer | undefined;
  /** Values for template variables. Values passed to `run()` take precedence. */
  readonly inputs?: Inputs | undefined;
  /**
   * Checks the inputs of a run, including `inputs`, before any spending. Also describes the inputs
   * to the command line and to MCP clients. Default: accepts anything.
   */
  readonly inputType?: InputSchema<unknown> | undefined;
  /**
   * PARALLEL: the reaction to a failed task. `FAIL_FAST` (default) stops the run at the first
   * failure. `CONTINUE_ON_ERROR` finishes all tasks that do not depend on a failed task.
   */
  readonly parallelErrorStrategy?: "FAIL_FAST" | "CONTINUE_ON_ERROR" | undefined;
  /** PARALLEL: maximum number of concurrent tasks. Default: no limit. */
  readonly maxConcurrency?: number | undefined;
  /**
   * HIERARCHICAL: the manager's model. Default: the model of the ensemble, else the model bound in
   * the container, else the model of the first worker.
   */
  readonly managerModel?: ModelRef | undefined;
  /** HIERARCHICAL: options of the manager's calls. Default: the model's defaults. */
  readonly managerModelOptions?: ModelOptions | undefined;
  /** HIERARCHICAL: limit of the manager's tool calls. Default 20. */
  readonly managerMaxIterations?: number | undefined;
  readonly managerPromptStrategy?: ManagerPromptStrategy | undefined;
  readonly hierarchicalConstraints?: HierarchicalConstraints | undefined;
  readonly delegationPolicies?: readonly DelegationPolicy[] | undefined;
  /** Limit of the depth of delegation. Default 3. */
  readonly maxDelegationDepth?: number | undefined;
  /** Limit of the handoffs of one task. Default 5. */
  readonly maxHandoffs?: number | undefined;
  /** Replaces prompt texts by name. `docs/prompts.md` lists the names. */
  readonly prompts?: Readonly<Record<string, PromptTemplate>> | undefined;
  /**
   * Whether to stream responses as `token` events. Default: in `stream()`, with `onToken`, and
   * while an observer of the kernel requests tokens (`events.on`). Tokens come before output
   * guardrails judge the output. `"guarded"` holds tokens until the task's output is accepted, and
   * discards the tokens of a refused output.
   */
  readonly streaming?: boolean | "guarded" | undefined;
  /**
   * The team's memory: outputs of this run, entries of earlier runs, facts about named entities.
   */
  readonly memory?: MemoryOptions | undefined;
  /** Stores the entries of the tasks' `memory` scopes. */
  readonly memoryStore?: MemoryStore | undefined;
  /**
   * Reaction to a failing memory store. `fail` (default): the task fails. `warn`: the run continues
   * without the store and emits `run_warning`. Finished work is kept in both cases.
   */
  readonly memoryErrors?: "fail" | "warn" | undefined;
  /** Answers every review. Default: reviews wait in the review store. */
  readonly reviewHandler?: ReviewHandler | undefined;
  /** Default review for tasks without a `review` option, after their completion. Default NEVER. */
  readonly reviewPolicy?: "NEVER" | "AFTER_EVERY_TASK" | "AFTER_LAST_TASK" | undefined;
  /**
   * Stores the reflections of tasks with `reflect`. Default: a store in memory, until the ensemble
   * is disposed. Its use emits a `run_warning`.
   */
  readonly reflectionStore?: ReflectionStore | undefined;
  /**
   * The format of structured data in prompts. TOON takes fewer tokens for lists of similar objects.
   * Other formats are contributions to `Tokens.ContextFormat`. Default JSON.
   */
  readonly contextFormat?: "JSON" | "TOON" | (string & {}) | undefined;
  /** Prices, for `cost` in usage, metrics and trace. */
  readonly costConfiguration?: CostConfiguration | undefined;
  /**
   * The amount of data in the trace. Default: the container's `DefaultCaptureMode`, else the
   * environment variable `AGENTENSEMBLE_CAPTURE_MODE`, else OFF.
   */
  readonly captureMode?: CaptureMode | undefined;
  readonly traceExporter?: TraceExporter | readonly TraceExporter[] | undefined;
  /**
   * Limit of characters of a tool's output that the model receives. -1 (default): no limit. The
   * trace contains the full text.
   */
  readonly maxToolOutputLength?: number | undefined;
  /** Time limit of a tool call in milliseconds, for tools without one. Default: none. */
  readonly toolTimeoutMs?: number | undefined;
  /**
   * Limit of characters of tool input and output in log lines. -1: no limit. 0: no text. Default
   * 200.
   */
  readonly toolLogTruncateLength?: number | undefined;
  /** Logs prompts and responses of all agents at level info. Default false. */
  readonly verbose?: boolean | undefined;
  readonly listeners?: readonly EnsembleListener[] | undefined;
  /** Called with every event. */
  readonly on?: ((event: EnsembleEvent) => void) | undefined;
  /**
   * Plugins in addition to the standard plugins. Not allowed together with a kernel that has
   * booted.
   */
  readonly plugins?: readonly Plugin[] | undefined;
  /** The kernel of the ensemble. Several ensembles can share a kernel. Default: a new kernel. */
  readonly kernel?: KernelApi | undefined;
}

/** The result of `ensemble.explain()`: the requests of a run, without calling a model. */
export interface Explanation {
  readonly workflow: string;
  /** The JSON Schema of the inputs, if the ensemble has an `inputType`. */
  readonly inputs?: JsonSchema;
  /** The tasks of the plan, then the tasks that the workflow adds. */
  readonly tasks: readonly ExplainedTask[];
  /** Estimated input tokens of the first calls of all tasks together. */
  readonly estimatedInputTokens: number;
  /**
   * Upper bound of the cost of a run. Missing if there are no prices or the cost has no bound: see
   * `unbounded`.
   */
  readonly costBound?: CostEstimate;
  /**
   * The reasons for a missing upper bound. Each reason names the task and a remedy. Empty if there
   * are no prices.
   */
  readonly unbounded: readonly string[];
}

/**
 * One task of an explanation. The prompts are the prompts of the first call. Placeholders stand for
 * outputs of earlier tasks and for memory entries.
 */
export interface ExplainedTask {
  readonly taskId: string;
  readonly description: string;
  readonly agentRole: string;
  /** Whether a model creates the agent during the run. The prompt is unknown in this case. */
  readonly synthesizedByModel: boolean;
  readonly dependsOn: readonly string[];
  /** `provider:model`. Empty for a task without model calls. */
  readonly model: string;
  readonly systemPrompt: string;
  readonly userPrompt: string;
  /** The names of `toolSpecs`. */
  readonly tools: readonly string[];
  /**
   * The tools as described to the model. Tools of dynamic providers are missing, because they are
   * known only at the start of the task.
   */
  readonly toolSpecs: readonly ToolSpec[];
  readonly estimatedInputTokens: number;
  /** Limit of model calls in a run, without failed attempts. */
  readonly maxModelCalls: number;
}
