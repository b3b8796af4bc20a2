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
import type { AnyTool, ToolResult } from "./tool.js";
import type { Inputs } from "./types.js";
import type { ForeignUsage, SpentUsage, UsageRecord } from "./usage.js";

/** Options of a model call on behalf of a task. */
export interface ChatOptions {
  /** What the call is for, in its usage record. */
  readonly purpose: Purpose;
  /** Default: the task's model. */
  readonly model?: ChatModel | undefined;
  /** Receives the answer as it comes. */
  readonly onToken?: ((text: string) => void) | undefined;
}

/** Where an entry is written that does not go to the run's memory store. */
export interface MemoryTarget {
  readonly store: Pick<MemoryStore, "store">;
  /** What the write counts as in metrics and trace. Default `scope`. */
  readonly kind?: "scope" | "longTerm" | undefined;
}

/**
 * The run as taps, tools and executors see it: `run` of every hook call and of a task's scope. The same object for the whole run, so it can be a key.
 *
 * After the end of the run look-ups, `modelFor`, `resolveModel`, `redact` and `redactValue` work as before. `emit`, `warn`, `stop`, `cancel`, `spent`,
 * `recordMetrics`, `recordReview` and `setTraceId` do nothing, `listens` returns false, `outputs` and `earlierUsage` are empty lists, `format` returns its text, `chat` and `writeMemory` reject with
 * ValidationError.
 */
export interface HookRun extends RunInfo {
  /** The run that this one joined with `RunOptions.parent`. */
  readonly parent: HookRun | undefined;
  /** When the run started, by its clock; `startedAt` of its trace. */
  readonly startedAt: Date;
  /** The options of the ensemble, as they were passed. */
  readonly options: EnsembleOptions;
  /** All contributions: those of plugins, then those of the ensemble's options, then those of the run. */
  all<T>(token: Token<T, "many">): readonly T[];
  /** The model that a task with this agent calls; `undefined` where there is none. @throws as `resolveModel`. */
  modelFor(task: AnyTask, agent: Agent | undefined): ChatModel | undefined;
  /** A model from its name; a model as it is. @throws ValidationError naming the providers there are. */
  resolveModel(ref: ModelRef): ChatModel;
  /** Whether anybody would see an event of this type: ask before building an expensive one. */
  listens(type: EnsembleEvent["type"]): boolean;
  /** Emits an event in this run. A `run_warning` is kept as `warn` keeps it. */
  emit(e: NewEvent): void;
  /** Emits a `run_warning` and keeps it for the trace. Without a listener it becomes a warning of the process. */
  warn(message: string): void;
  /** Ends the run: no further task starts, work in progress may finish. The first reason stays; the run fails with it, unless it is an ExitEarlySignal. */
  stop(reason: AgentEnsembleError): void;
  /** Ends the run at once: signals are aborted, and what is in flight is waited for no longer than the grace period. The first reason stays. */
  cancel(reason: AgentEnsembleError): void;
  /**
   * Counts usage of earlier executions of this run: in its budgets, and in its totals unless the entry is `restored`. Call it in a `policy` tap of
   * `beforeRun` that is not of order `post`. @throws ValidationError for an entry without a model, or with a count that is none.
   */
  spent(usage: readonly SpentUsage[]): void;
  /** What `spent` was given so far, with prices. */
  readonly earlierUsage: readonly UsageRecord[];
  /** Notes that this run, and those that it joined, have read text from outside: `source` says through what. The first one stays. */
  noteUntrusted(source: string): void;
  /** Through what this run, or one that it joined, first read text from outside. */
  readonly untrustedSource: string | undefined;
  /** The outputs of the run so far, as its own output would list them: the last one of each task, those of internal tasks left out. */
  outputs(): readonly TaskOutput[];
  /** Adds to what the metrics of a task say. Does nothing for a task that has not begun. @throws ValidationError for usage without a model. */
  recordMetrics(taskId: string, measures: TaskMetricsUpdate): void;
  /** Adds a review to the trace. */
  recordReview(review: ReviewRecord): void;
  /** The text without secrets: those of the environment, of the models called so far, and of `Tokens.SecretFilter`. Never throws. */
  redact(text: string): string;
  /** A copy of the value as JSON can hold it, all texts redacted and fields named like secrets left out. Never throws. */
  redactValue(value: unknown): unknown;
  /** How structured data stands in prompts: `value` in the run's `contextFormat` where that is shorter, else `text`. */
  format(value: unknown, text: string): string;
  /** Sets the id under which a tracing system knows the run: `traceId` of its trace. The first one stays. Set it before `afterRun`. */
  setTraceId(traceId: string): void;
  /**
   * Calls a model on behalf of a task, from a tap of that task: with hooks, retries, ledger and trace as the task's own calls.
   * @throws what the call throws; ValidationError for a task that has not begun.
   */
  chat(call: TaskCall, request: ChatRequest, options: ChatOptions): Promise<ChatResponse>;
  /**
   * Writes to memory on behalf of a task, from a tap of that task: through the hooks, counted and recorded. Default target: a scope of the run's store.
   * @throws ValidationError without a store, or for a task that has not begun; MemoryStoreError around what the store throws.
   */
  writeMemory(
    call: TaskCall,
    scope: string,
    entry: MemoryEntry,
    target?: MemoryTarget,
  ): Promise<void>;
}

/** Feedback for a task that is done again. */
export interface Revision {
  readonly feedback: string;
  readonly previousOutput?: string | undefined;
}

/** What a handler gets. */
export interface TaskContext {
  /** The task's name, or `task-{position}`. */
  readonly taskId: string;
  readonly description: string;
  readonly expectedOutput: string;
  readonly contextOutputs: readonly TaskOutput[];
  readonly inputs: Inputs;
  readonly revision?: Revision | undefined;
  /** Names this attempt of the task: `{runId}/{identity}@{attempt}`. The same when the run is repeated under its id. */
  readonly idempotencyKey: string;
  /** Aborted when the task or the run ends before the handler does. */
  readonly signal: AbortSignal;
  readonly run: RunInfo;
  /** The ensemble's memory store. What the task declares in `memory` is written by itself; reading is up to the handler. */
  readonly memory: TaskMemory;
  /** The output of a task in `context`, typed. @throws ValidationError where the task is not in `context`. */
  getOutput<U>(task: Task<U>): TaskOutput<U>;
}

/** A memory store as a handler uses it: writes go through the hooks and get the `metadata` of their origin, reads and writes are counted. Rejects with ValidationError without a store. */
export interface TaskMemory {
  /** At most `maxResults` entries (default 5). */
  retrieve(scope: string, query: string, maxResults?: number): Promise<readonly MemoryEntry[]>;
  store(scope: string, entry: MemoryEntry): Promise<void>;
}

/** The second argument of `ensemble.run()`. */
export interface RunOptions {
  /** Cancels the run. */
  readonly signal?: AbortSignal | undefined;
  /** Time for the whole run in milliseconds. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Overrides the ensemble's. */
  readonly maxToolOutputLength?: number | undefined;
  /** Overrides the ensemble's. */
  readonly toolLogTruncateLength?: number | undefined;
  /** Overrides the ensemble's. */
  readonly captureMode?: CaptureMode | undefined;
  /** Go into every usage record and the trace. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Default: from the `IdGenerator`. */
  readonly runId?: string | undefined;
  /** Bindings for this run only; they come before everything else. */
  readonly bindings?: ((bind: BindApi) => void) | undefined;
  /** Values for this run and those that join it, each from `runValue(token, value)`; they come behind `bindings` and before everything else. */
  readonly values?: readonly RunValue[] | undefined;
  /** `false`: a failed run resolves, with `output.error`. Default true. */
  readonly throwOnError?: boolean | undefined;
  /** How long work that ignores its signal is waited for after a stop, in milliseconds. Default 250. */
  readonly cancelGraceMs?: number | undefined;
  /** Receive the events of this run, after the ensemble's own listeners. */
  readonly listeners?: readonly EnsembleListener[] | undefined;
  /** Of the run's model calls where neither a delegation nor a workflow sets one. Default: that of the run joined with `parent`, else `NORMAL`. */
  readonly priority?: DelegationRequest["priority"] | undefined;
  /**
   * Joins this run to the ledger and the signal of another, for an `ensemble.run()` inside a handler or tool. Pass the context of the handler, or
   * `ctx.scope` in a tool: usage records then name that task as `caller`. With `ctx.run` they name none.
   */
  readonly parent?: RunInfo | CallingTask | undefined;
}

/** A run in progress. `output` settles as `run()` would; `events` ends with the run. */
export interface RunHandle {
  readonly id: string;
  readonly events: AsyncIterable<EnsembleEvent>;
  readonly output: Promise<EnsembleOutput>;
  cancel(reason?: string): void;
}

/**
 * Whether a task, or a part of the plan, is the last of its run. A function where that follows from the task's output, or from what else is done by then;
 * it is asked only where somebody wants to know (`reviewPolicy: "AFTER_LAST_TASK"`), when the output is there and before it is accepted.
 */
export type IsLast = boolean | ((output: TaskOutput) => boolean);

/** Per-call changes to how a task is run. */
export interface RunTaskOptions {
  /** Default: one more than the task's last. */
  readonly attempt?: number | undefined;
  readonly revision?: Revision | undefined;
  /** Instead of the outputs of the tasks in `context`. */
  readonly contextOutputs?: readonly TaskOutput[] | undefined;
  readonly agent?: Agent | undefined;
  readonly parentTaskId?: string | undefined;
  /** `TaskCall.identity` of the task. Default: its id. */
  readonly identity?: string | undefined;
  /** Delegation depth. Default 0. */
  readonly depth?: number | undefined;
  /** Of the task's model calls, and of those of the tasks it delegates or runs. Default: that of the task which runs it, else the run's. */
  readonly priority?: DelegationRequest["priority"] | undefined;
  /** Ends this task earlier than the run. Tasks that share a signal share its cost. */
  readonly signal?: AbortSignal | undefined;
  /** Whether this is the last task of the run. Default: true for the last task of the plan. */
  readonly last?: IsLast | undefined;
}

/** Options of a task that is added during a run. */
export interface DefineOptions {
  /** Instead of the task's name or number. Unique within the run. */
  readonly id?: string | undefined;
  /** The id becomes `{parentTaskId}.{n}`. */
  readonly parentTaskId?: string | undefined;
  readonly agent?: Agent | undefined;
  /** Whether `{name}` variables are filled from the run's inputs. Default false: text from a model is data. */
  readonly template?: boolean | undefined;
  /** What its model calls are for, in usage records. Default: `task`. */
  readonly purpose?: Purpose | undefined;
  /** Whether its output is not an output of the run. Default false. */
  readonly internal?: boolean | undefined;
  /** Its place in a map-reduce tree, for the trace. */
  readonly mapReduce?: MapReduceNode | undefined;
}

/** What holds for every task of a part of the plan, where the workflow that runs it says nothing else. */
export interface SubPlanOptions {
  /** Ends this part earlier than the run. */
  readonly signal?: AbortSignal | undefined;
  /** By task id: feedback for tasks that are done again. */
  readonly revisions?: ReadonlyMap<string, Revision> | undefined;
  /** Whether the run is done with this part. Default: not said, and the last task in the plan's list is taken for the last one. */
  readonly last?: IsLast | undefined;
}

/** What workflows report beside the outputs of tasks. */
export type WorkflowReport =
  | { readonly kind: "loop"; readonly loop: Loop; readonly history: LoopHistory }
  | { readonly kind: "graph"; readonly graph: AnyGraph; readonly history: GraphHistory }
  | { readonly kind: "phase"; readonly phase: Phase; readonly outputs: readonly TaskOutput[] };

/** What a workflow may do. After the run has been stopped every `runTask` rejects; let it through. */
export interface Run extends RunInfo {
  readonly signal: AbortSignal;
  readonly plan: Plan;
  /** Whether the run is done with this part of the plan: `true` for the whole plan, `undefined` where the workflow that runs the part does not say. */
  readonly last?: IsLast | undefined;
  /** Does one task, with everything that belongs to it: hooks, guardrails, record, events. */
  runTask(taskId: string, extras?: RunTaskOptions): Promise<TaskOutput>;
  /** Runs a part of the plan with another workflow; context outside the part counts as satisfied. */
  runWorkflow(
    name: string,
    taskIds: readonly string[],
    o?: SubPlanOptions,
  ): Promise<WorkflowResult>;
  /** Adds a task during the run and returns its id. */
  define(task: AnyTask, o?: DefineOptions): string;
  /** The agent of a task: its own, else the one made for it, once per run. `undefined` for a task with a handler. */
  agentOf(taskId: string): Promise<Agent | undefined>;
  /** Agents that tasks can be handed to, one per role. */
  readonly workers: readonly Agent[];
  /** Keeps what a loop, the graph or a phase did, for the output and the trace, also of a run that fails later. */
  reportWorkflow(part: WorkflowReport): void;
  emit(e: NewEvent): void;
  /** Whether anybody would see an event of this type: ask before building an expensive one. */
  listens(type: EnsembleEvent["type"]): boolean;
  all<T>(token: Token<T, "many">): readonly T[];
}

/** What a delegating plugin may add to a request. */
export interface DelegateOptions {
  /** Run this task of the plan, with its own schema, guardrails and context, instead of a new one. */
  readonly taskId?: string | undefined;
  /** What the new task is expected to produce. */
  readonly expectedOutput?: string | undefined;
  /** The tool call that delegates; it names the worker's task, see `TaskCall.identity`. */
  readonly toolCallId?: string | undefined;
  /** Why the delegator refuses the request itself: nobody is asked and no hook fires, and it is reported like every refusal. */
  readonly refusal?: string | undefined;
}

/** What plugins measured while a task ran; the kernel adds it up. */
export interface TaskMetricsUpdate {
  readonly promptBuildMs?: number | undefined;
  readonly memoryRetrievalMs?: number | undefined;
  readonly memoryOperations?: Partial<MemoryOperationCounts> | undefined;
  /** What other processes used on behalf of the task: in ledger, totals and trace with purpose `remote`. */
  readonly usage?: readonly ForeignUsage[] | undefined;
  /** What was read or written; kept, and a function called, only where the run's capture mode wants it. */
  readonly memory?: MemoryAccess | (() => MemoryAccess) | undefined;
}

/** What an executor, a tool and a handler may do while a task runs. */
export interface TaskScope extends Pick<
  Run,
  "workers" | "runTask" | "define" | "emit" | "listens" | "get" | "find" | "all"
> {
  readonly run: HookRun;
  readonly taskId: string;
  readonly parentTaskId: string | undefined;
  /** The role of the task's agent; `(deterministic)` for a handler. */
  readonly agentRole: string;
  /** Place in the task list, counted from 1; 0 for a task added during the run. */
  readonly taskIndex: number;
  readonly attempt: number;
  readonly depth: number;
  readonly signal: AbortSignal;
  /** Calls the task's model (or the one given). Retries, hooks and the ledger are inside. */
  chat(request: ChatRequest, o: ChatOptions): Promise<ChatResponse>;
  /** Whether answers are streamed as they come: `token` and `partial_output` events are wanted, and not held back. */
  readonly streaming: boolean;
  /** The model that `chat` would call, for its capabilities. */
  readonly model: ChatModel;
  /**
   * Calls one of `tools`. An unknown name, input that does not fit and a rejection are failed results.
   * @throws ToolExecutionError when the tool threw; ToolConfigurationError and ExitEarlySignal as they are.
   */
  callTool(call: ToolCall, tools: readonly AnyTool[]): Promise<ToolResult>;
  /** Records a tool call that was refused before it was made, with the text the model got instead. */
  skipTool(call: ToolCall, text: string): void;
  /** Hands a subtask to another agent of the run. Refusals and failures are responses of status FAILURE. */
  delegate(request: DelegationRequest, o?: DelegateOptions): Promise<DelegationResponse>;
  /** Writes to memory: through the hooks, counted and recorded. Default target: a scope of the run's store. @throws as `HookRun.writeMemory`. */
  writeMemory(scope: string, entry: MemoryEntry, target?: MemoryTarget): Promise<void>;
  /** How structured data stands in prompts: `value` in the run's `contextFormat` where that is shorter, else `text`. */
  format(value: unknown, text: string): string;
  /** Adds to what the task's metrics say about prompts and memory. */
  recordMetrics(measures: TaskMetricsUpdate): void;
  /** The run's limit for tool output sent to the model; -1 for none. */
  readonly maxToolOutputLength: number;
}
