import type { Agent } from "./agent.js";
import type {
  ChatModel,
  ChatRequest,
  ChatResponse,
  ModelRef,
  Purpose,
  ToolCall,
} from "./chat-model.js";
import type { DelegationRequest, DelegationResponse } from "./delegation.js";
import type { AgentEnsembleError } from "./errors.js";
import type { EnsembleEvent, EnsembleListener, NewEvent } from "./events.js";
import type { AnyGraph, EnsembleOptions } from "./ensemble-options.js";
import type { GraphHistory } from "./graph.js";
import type { Loop, LoopHistory } from "./loop.js";
import type { TaskCall } from "./hooks.js";
import type { MapReduceNode } from "./map-reduce.js";
import type { CaptureMode } from "./capture.js";
import type { Phase } from "./phase.js";
import type { MemoryEntry, MemoryOperationCounts, MemoryStore } from "./memory.js";
import type { EnsembleOutput, TaskOutput, WorkflowResult } from "./output.js";
import type { Plan } from "./plan.js";
import type { BindApi } from "./plugin.js";
import type { CallingTask, RunInfo, RunValue } from "./run-info.js";
import type { AnyTask, Task } from "./task.js";
import type { MemoryAccess, ReviewRecord } from "./trace.js";
import type { Token } from "./token.js";
import type { AnyTool } from "./tool.js";
import type { ToolResult } from "./tool-result.js";
import type { Inputs, OutputSchema } from "./types.js";
import type { ForeignUsage, SavedUsage, SpentUsage, UsageRecord } from "./usage.js";

/** Options of a model call on behalf of a task. */
export interface ChatOptions {
  /** The purpose of the call, in its usage record. */
  readonly purpose: Purpose;
  /** Default: the task's model. */
  readonly model?: ChatModel | undefined;
  /** Receives the text of the response as it arrives. */
  readonly onToken?: ((text: string) => void) | undefined;
}

/** The target of a memory write outside of the run's memory store. */
export interface MemoryTarget {
  readonly store: Pick<MemoryStore, "store">;
  /** The kind of the write in metrics and trace. Default `scope`. */
  readonly kind?: "scope" | "longTerm" | undefined;
}

/**
 * The view of the run for taps, tools and executors: `run` of every hook call and of a task's scope. The same object for the whole run, so it can be a key.
 *
 * After the end of the run, look-ups, `modelFor`, `resolveModel`, `redact` and `redactValue` work as before. `emit`, `warn`, `stop`, `cancel`, `spent`,
 * `noteSaved`, `recordMetrics`, `recordReview` and `setTraceId` do nothing. `listens` returns false, `outputs` and `earlierUsage` are empty lists, and `format` returns its
 * text. `chat` and `writeMemory` reject with ValidationError.
 */
export interface HookRun extends RunInfo {
  /** The run that this one joined with `RunOptions.parent`. */
  readonly parent: HookRun | undefined;
  /** Start time of the run, by its clock; `startedAt` of its trace. */
  readonly startedAt: Date;
  /** The options passed to the ensemble. */
  readonly options: EnsembleOptions;
  /** Returns all contributions: of plugins, then of the ensemble's options, then of the run. */
  all<T>(token: Token<T, "many">): readonly T[];
  /** Returns the model that a task with this agent calls; `undefined` if there is none. @throws as `resolveModel`. */
  modelFor(task: AnyTask, agent: Agent | undefined): ChatModel | undefined;
  /** Returns the model with a name; a model unchanged. @throws ValidationError with the names of the providers. */
  resolveModel(ref: ModelRef): ChatModel;
  /** Returns whether an event of this type has a listener. Check it before building an expensive event. */
  listens(type: EnsembleEvent["type"]): boolean;
  /** Emits an event in this run. Records a `run_warning` as `warn` does. */
  emit(e: NewEvent): void;
  /** Emits a `run_warning` and records it for the trace. Without a listener it becomes a process warning. */
  warn(message: string): void;
  /** Stops the run: no further task starts, work in progress may finish. The first reason is kept. The run fails with it, unless it is an ExitEarlySignal. */
  stop(reason: AgentEnsembleError): void;
  /** Cancels the run: aborts signals, and waits for work in progress up to the grace period. The first reason is kept. */
  cancel(reason: AgentEnsembleError): void;
  /**
   * Counts usage of earlier executions of this run: in its budgets, and in its totals unless the entry is `restored`. Call it in a `policy` tap of `beforeRun`
   * with an order other than `post`. @throws ValidationError for an entry without a model, or with an invalid count.
   */
  spent(usage: readonly SpentUsage[]): void;
  /** Sets the usage of earlier executions that this run does not pay for again: `metrics.saved` of its output and trace. Set it before `afterRun`. */
  noteSaved(saved: SavedUsage): void;
  /** The entries passed to `spent` so far, with prices. */
  readonly earlierUsage: readonly UsageRecord[];
  /** Records that this run, and the runs it joined, have read text from outside through `source`. The first source is kept. */
  noteUntrusted(source: string): void;
  /** The first source of outside text of this run, or of a run that it joined. */
  readonly untrustedSource: string | undefined;
  /** Returns the outputs of the run so far, as its output would list them: the last one of each task, without internal tasks. */
  outputs(): readonly TaskOutput[];
  /** Adds to the metrics of a task. Does nothing for a task that has not begun. @throws ValidationError for usage without a model. */
  recordMetrics(taskId: string, measures: TaskMetricsUpdate): void;
  /** Adds a review to the trace. */
  recordReview(review: ReviewRecord): void;
  /** Returns the text without secrets: of the environment, of the models called so far, and of `Tokens.SecretFilter`. Never throws. */
  redact(text: string): string;
  /** Returns a copy of the value as JSON, with all texts redacted and without fields named like secrets. Never throws. */
  redactValue(value: unknown): unknown;
  /** Formats structured data for prompts: `value` in the run's `contextFormat` if that is shorter, else `text`. */
  format(value: unknown, text: string): string;
  /** Sets the id of the run in a tracing system: `traceId` of its trace. The first id is kept. Set it before `afterRun`. */
  setTraceId(traceId: string): void;
  /**
   * Calls a model on behalf of a task, from a tap of that task. Uses hooks, retries, ledger and trace like the task's calls.
   * @throws the error of the call; ValidationError for a task that has not begun.
   */
  chat(call: TaskCall, request: ChatRequest, options: ChatOptions): Promise<ChatResponse>;
  /**
   * Writes to memory on behalf of a task, from a tap of that task. Uses hooks, metrics and trace. Default target: a scope of the run's store.
   * @throws ValidationError without a store, or for a task that has not begun; MemoryStoreError around an error of the store.
   */
  writeMemory(
    call: TaskCall,
    scope: string,
    entry: MemoryEntry,
    target?: MemoryTarget,
  ): Promise<void>;
}

/** Feedback for a repeated task. */
export interface Revision {
  readonly feedback: string;
  readonly previousOutput?: string | undefined;
}

/** The context of a handler. */
export interface TaskContext {
  /** The task's name, or `task-{position}`. */
  readonly taskId: string;
  readonly description: string;
  readonly expectedOutput: string;
  readonly contextOutputs: readonly TaskOutput[];
  readonly inputs: Inputs;
  readonly revision?: Revision | undefined;
  /** Identifies this attempt of the task: `{runId}/{identity}@{attempt}`. Equal when the run is repeated with the same id. */
  readonly idempotencyKey: string;
  /** Aborted if the task or the run ends before the handler. */
  readonly signal: AbortSignal;
  readonly run: RunInfo;
  /** The ensemble's memory store. The scopes in the task's `memory` are written automatically; the handler reads them if needed. */
  readonly memory: TaskMemory;
  /** Returns the typed output of a task in `context`. @throws ValidationError if the task is not in `context`. */
  getOutput<U>(task: Task<U>): TaskOutput<U>;
}

/** A memory store for handlers. Writes use the hooks and get the `metadata` of their origin; reads and writes are counted. Rejects with ValidationError without a store. */
export interface TaskMemory {
  /** Returns up to `maxResults` entries (default 5). */
  retrieve(scope: string, query: string, maxResults?: number): Promise<readonly MemoryEntry[]>;
  store(scope: string, entry: MemoryEntry): Promise<void>;
}

/** The second argument of `ensemble.run()`. */
export interface RunOptions {
  /** Cancels the run. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of the whole run in milliseconds. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Overrides the ensemble's. */
  readonly maxToolOutputLength?: number | undefined;
  /** Overrides the ensemble's. */
  readonly toolLogTruncateLength?: number | undefined;
  /** Overrides the ensemble's. */
  readonly captureMode?: CaptureMode | undefined;
  /** Added to every usage record and to the trace. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Default: from the `IdGenerator`. */
  readonly runId?: string | undefined;
  /** Bindings for this run only, before all others. */
  readonly bindings?: ((bind: BindApi) => void) | undefined;
  /** Values for this run and those that join it, each from `runValue(token, value)`. They come after `bindings` and before everything else. */
  readonly values?: readonly RunValue[] | undefined;
  /** `false`: a failed run resolves, with `output.error`. Default true. */
  readonly throwOnError?: boolean | undefined;
  /** Grace period in milliseconds for work that ignores its signal after a stop. Default 250. */
  readonly cancelGraceMs?: number | undefined;
  /** Receive the events of this run, after the ensemble's listeners. */
  readonly listeners?: readonly EnsembleListener[] | undefined;
  /** Priority of the run's model calls, unless a delegation or a workflow sets one. Default: the priority of the run joined with `parent`, else `NORMAL`. */
  readonly priority?: DelegationRequest["priority"] | undefined;
  /**
   * Joins this run to the ledger and the signal of another, for an `ensemble.run()` inside a handler or tool. Pass the context of the handler, or `ctx.scope`
   * in a tool: usage records then have that task as `caller`. With `ctx.run` they have no `caller`.
   */
  readonly parent?: RunInfo | CallingTask | undefined;
}

/** A run in progress. `output` settles like `run()`; `events` ends with the run. */
export interface RunHandle {
  readonly id: string;
  readonly events: AsyncIterable<EnsembleEvent>;
  readonly output: Promise<EnsembleOutput>;
  cancel(reason?: string): void;
}

/**
 * Whether a task, or a part of the plan, is the last of its run. A function if that depends on the task's output or on other finished work. Called only for
 * `reviewPolicy: "AFTER_LAST_TASK"`, with the output before its acceptance.
 */
export type IsLast = boolean | ((output: TaskOutput) => boolean);

/** Options of one execution of a task. */
export interface RunTaskOptions {
  /** Default: one more than the task's last. */
  readonly attempt?: number | undefined;
  readonly revision?: Revision | undefined;
  /** Replaces the outputs of the tasks in `context`. */
  readonly contextOutputs?: readonly TaskOutput[] | undefined;
  readonly agent?: Agent | undefined;
  readonly parentTaskId?: string | undefined;
  /** `TaskCall.identity` of the task. Default: its id. */
  readonly identity?: string | undefined;
  /** Delegation depth. Default 0. */
  readonly depth?: number | undefined;
  /** Priority of the task's model calls, and of the tasks it delegates or runs. Default: the priority of the task which runs it, else of the run. */
  readonly priority?: DelegationRequest["priority"] | undefined;
  /** Ends this task earlier than the run. Sharing one signal between tasks costs less. */
  readonly signal?: AbortSignal | undefined;
  /** Whether this is the last task of the run. Default: true for the last task of the plan. */
  readonly last?: IsLast | undefined;
}

/** Options of a task that is added during a run. */
export interface DefineOptions {
  /** Replaces the task's name or number. Unique within the run. */
  readonly id?: string | undefined;
  /** The id becomes `{parentTaskId}.{n}`. */
  readonly parentTaskId?: string | undefined;
  readonly agent?: Agent | undefined;
  /** Whether `{name}` variables are filled from the run's inputs. Default false: text from a model is data. */
  readonly template?: boolean | undefined;
  /** The purpose of its model calls in usage records. Default: `task`. */
  readonly purpose?: Purpose | undefined;
  /** Whether its output is not an output of the run. Default false. */
  readonly internal?: boolean | undefined;
  /** Its position in a map-reduce tree, for the trace. */
  readonly mapReduce?: MapReduceNode | undefined;
}

/** Options for every task of a part of the plan, unless the part's workflow sets others. */
export interface SubPlanOptions {
  /** Ends this part earlier than the run. */
  readonly signal?: AbortSignal | undefined;
  /** By task id: feedback for repeated tasks. */
  readonly revisions?: ReadonlyMap<string, Revision> | undefined;
  /** Whether this part is the last of the run. Default: unknown; the last task of the plan's list then counts as the last one. */
  readonly last?: IsLast | undefined;
}

/** Reports of workflows, in addition to the outputs of tasks. */
export type WorkflowReport =
  | { readonly kind: "loop"; readonly loop: Loop; readonly history: LoopHistory }
  | { readonly kind: "graph"; readonly graph: AnyGraph; readonly history: GraphHistory }
  | { readonly kind: "phase"; readonly phase: Phase; readonly outputs: readonly TaskOutput[] };

/** The API of workflows. After the run has stopped every `runTask` rejects; pass the rejection on. */
export interface Run extends RunInfo {
  readonly signal: AbortSignal;
  readonly plan: Plan;
  /** Whether this part of the plan is the last of the run: `true` for the whole plan, `undefined` if the workflow of the part does not set it. */
  readonly last?: IsLast | undefined;
  /** Does one task, with its hooks, guardrails, record and events. */
  runTask(taskId: string, extras?: RunTaskOptions): Promise<TaskOutput>;
  /** Runs a part of the plan with another workflow. Context outside the part counts as satisfied. */
  runWorkflow(
    name: string,
    taskIds: readonly string[],
    o?: SubPlanOptions,
  ): Promise<WorkflowResult>;
  /** Adds a task during the run and returns its id. */
  define(task: AnyTask, o?: DefineOptions): string;
  /** Returns the agent of a task, or the agent created for it once per run. `undefined` for a task with a handler. */
  agentOf(taskId: string): Promise<Agent | undefined>;
  /** Agents available for tasks, one per role. */
  readonly workers: readonly Agent[];
  /** Records the course of a loop, the graph or a phase for the output and the trace, even if the run fails later. */
  reportWorkflow(part: WorkflowReport): void;
  emit(e: NewEvent): void;
  /** Returns whether an event of this type has a listener. Check it before building an expensive event. */
  listens(type: EnsembleEvent["type"]): boolean;
  all<T>(token: Token<T, "many">): readonly T[];
}

/** Options that a delegating plugin may add to a request. */
export interface DelegateOptions {
  /** Runs this task of the plan, with its schema, guardrails and context, instead of a new one. */
  readonly taskId?: string | undefined;
  /** The expected output of the new task. */
  readonly expectedOutput?: string | undefined;
  /** The tool call that delegates. Part of the name of the worker's task, see `TaskCall.identity`. */
  readonly toolCallId?: string | undefined;
  /** The delegator's reason to refuse the request. No agent runs and no hook fires; the refusal is reported like any other. */
  readonly refusal?: string | undefined;
  /** The agent that executes the subtask. It need not be one of the run's workers. Default: the worker with the role of the request. */
  readonly agent?: Agent | undefined;
  /** The schema of the new task's output. Default: that of the request. */
  readonly outputType?: OutputSchema<unknown> | undefined;
  /** Only with `mode: "handoff"`: one of these agents takes over. No task is added; the executor continues with `handOver`. */
  readonly handoff?: HandoffTargets | undefined;
}

/** The agents that may take over a task. */
export interface HandoffTargets {
  readonly agents: readonly Agent[];
  /** Transfers of the task so far. */
  readonly depth: number;
  /** Limit of transfers. */
  readonly maxDepth: number;
}

/** Metrics measured by plugins during a task. The kernel adds them up. */
export interface TaskMetricsUpdate {
  readonly promptBuildMs?: number | undefined;
  readonly memoryRetrievalMs?: number | undefined;
  readonly memoryOperations?: Partial<MemoryOperationCounts> | undefined;
  /** Usage of other processes on behalf of the task: in ledger, totals and trace with purpose `remote`. */
  readonly usage?: readonly ForeignUsage[] | undefined;
  /** The entries read or written. Kept only if the run's capture mode captures them; a function is called only then. */
  readonly memory?: MemoryAccess | (() => MemoryAccess) | undefined;
}

/** The API of executors, tools and handlers during a task. */
export interface TaskScope extends Pick<
  Run,
  "workers" | "runTask" | "define" | "emit" | "listens" | "get" | "find" | "all"
> {
  readonly run: HookRun;
  readonly taskId: string;
  readonly parentTaskId: string | undefined;
  /** The role of the task's agent; `(deterministic)` for a handler. */
  readonly agentRole: string;
  /** Position in the task list, counted from 1; 0 for a task added during the run. */
  readonly taskIndex: number;
  readonly attempt: number;
  readonly depth: number;
  readonly signal: AbortSignal;
  /** Calls the task's model (or the given one). Includes retries, hooks and the ledger. */
  chat(request: ChatRequest, o: ChatOptions): Promise<ChatResponse>;
  /** Whether responses are streamed immediately: `token` and `partial_output` events have a listener and are not held. */
  readonly streaming: boolean;
  /** The model that `chat` would call, for its capabilities. */
  readonly model: ChatModel;
  /**
   * Calls one of `tools`. An unknown name, invalid input and a rejection are failed results.
   * @throws ToolExecutionError if the tool threw; ToolConfigurationError and ExitEarlySignal unchanged.
   */
  callTool(call: ToolCall, tools: readonly AnyTool[]): Promise<ToolResult>;
  /** Records a tool call that was refused before its start, with the text for the model. */
  skipTool(call: ToolCall, text: string): void;
  /** Delegates a subtask to another agent of the run. Refusals and failures are responses of status FAILURE. */
  delegate(request: DelegationRequest, o?: DelegateOptions): Promise<DelegationResponse>;
  /** Continues the task as another agent, after an accepted handoff: its role in events and output, its model, its rate limit. */
  handOver(agent: Agent): void;
  /** Writes to memory, with hooks, metrics and trace. Default target: a scope of the run's store. @throws as `HookRun.writeMemory`. */
  writeMemory(scope: string, entry: MemoryEntry, target?: MemoryTarget): Promise<void>;
  /** Formats structured data for prompts: `value` in the run's `contextFormat` if that is shorter, else `text`. */
  format(value: unknown, text: string): string;
  /** Adds to the task's metrics of prompts and memory. */
  recordMetrics(measures: TaskMetricsUpdate): void;
  /** The run's limit for tool output sent to the model; -1 for none. */
  readonly maxToolOutputLength: number;
}
