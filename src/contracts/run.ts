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
  /** The model. Default: the task's model. */
  readonly model?: ChatModel | undefined;
  /** Called with each piece of the response's text when it arrives. */
  readonly onToken?: ((text: string) => void) | undefined;
}

/** The target of a memory write that does not go to the run's memory store. */
export interface MemoryTarget {
  readonly store: Pick<MemoryStore, "store">;
  /** The kind of the write in metrics and trace. Default `scope`. */
  readonly kind?: "scope" | "longTerm" | undefined;
}

/**
 * A run, for taps, tools and executors: `run` of every hook call and of a task's scope. The object
 * is the same during the whole run and can serve as a key.
 *
 * After the end of the run, lookups, `modelFor`, `resolveModel`, `redact` and `redactValue` work
 * as before. `emit`, `warn`, `stop`, `cancel`, `spent`, `noteSaved`, `recordMetrics`,
 * `recordReview` and `setTraceId` do nothing. `listens` returns false, `outputs` and `earlierUsage`
 * are empty lists, and `format` returns its text. `chat` and `writeMemory` reject with
 * ValidationError.
 */
export interface HookRun extends RunInfo {
  /** The run that this run joined with `RunOptions.parent`. */
  readonly parent: HookRun | undefined;
  /** Start time of the run by its clock. Equals `startedAt` of the trace. */
  readonly startedAt: Date;
  /** The options that were passed to the ensemble. */
  readonly options: EnsembleOptions;
  /** Returns all contributions to a token: of plugins, of the ensemble's options, of the run. */
  all<T>(token: Token<T, "many">): readonly T[];
  /**
   * Returns the model that a task with this agent calls, or `undefined`. @throws as `resolveModel`.
   */
  modelFor(task: AnyTask, agent: Agent | undefined): ChatModel | undefined;
  /**
   * Returns the model with this name. Returns a model unchanged.
   * @throws ValidationError with the names of the providers.
   */
  resolveModel(ref: ModelRef): ChatModel;
  /** Returns whether an event of this type has a listener. Use it before an expensive event. */
  listens(type: EnsembleEvent["type"]): boolean;
  /** Emits an event of this run. A `run_warning` is also recorded, as by `warn`. */
  emit(e: NewEvent): void;
  /** Emits a `run_warning`, or a process warning if there is no listener. Records it for the trace. */
  warn(message: string): void;
  /**
   * Stops the run: no further task starts. Work in progress may finish. The first reason is kept.
   * The run fails with this reason, unless it is an ExitEarlySignal.
   */
  stop(reason: AgentEnsembleError): void;
  /** Cancels the run. Work in progress may end within the grace period. The first reason is kept. */
  cancel(reason: AgentEnsembleError): void;
  /**
   * Counts usage of earlier executions in the budgets of this run. Entries that are not `restored`
   * also count in its totals. Call it in a `policy` tap of `beforeRun` with an order before `post`.
   * @throws ValidationError for an entry without a model, or with an invalid count.
   */
  spent(usage: readonly SpentUsage[]): void;
  /**
   * Sets the usage of earlier executions that this run did not repeat: `metrics.saved` of the
   * output and the trace. Call it before `afterRun`.
   */
  noteSaved(saved: SavedUsage): void;
  /** The entries passed to `spent` so far, with their prices. */
  readonly earlierUsage: readonly UsageRecord[];
  /** Records that this run, and the runs that it joined, have read text from outside through `source`. Only the first source is kept. */
  noteUntrusted(source: string): void;
  /** The first source of outside text, of this run or of a run that it joined. */
  readonly untrustedSource: string | undefined;
  /** Returns the last output of each task, without internal tasks. */
  outputs(): readonly TaskOutput[];
  /** Adds measures to the metrics of a task. Does nothing for a task that has not begun. @throws ValidationError for usage without a model. */
  recordMetrics(taskId: string, measures: TaskMetricsUpdate): void;
  /** Adds a review to the record for the trace. */
  recordReview(review: ReviewRecord): void;
  /** Returns the text without secrets of the environment, of the models called so far, and of `Tokens.SecretFilter`. Never throws. */
  redact(text: string): string;
  /** Returns a copy of the value as JSON data, with redacted texts and without fields whose names indicate secrets. Never throws. */
  redactValue(value: unknown): unknown;
  /** Formats structured data for prompts. Returns `value` in the run's `contextFormat` if the result is shorter, else `text`. */
  format(value: unknown, text: string): string;
  /** Sets the id of the run in a tracing system: `traceId` of its trace. Only the first id is kept. Call it before `afterRun`. */
  setTraceId(traceId: string): void;
  /**
   * Calls a model on behalf of a task, from a tap of that task. The call has the same hooks,
   * retries, ledger and trace as the task's calls.
   * @throws the error of the call; ValidationError for a task that has not begun.
   */
  chat(call: TaskCall, request: ChatRequest, options: ChatOptions): Promise<ChatResponse>;
  /**
   * Writes to memory on behalf of a task, from a tap of that task. The write has the same hooks,
   * metrics and trace as the task's writes. Default target: a scope of the run's store.
   * @throws ValidationError without a store, or for a task that has not begun; MemoryStoreError
   * with an error of the store as its cause.
   */
  writeMemory(
    call: TaskCall,
    scope: string,
    entry: MemoryEntry,
    target?: MemoryTarget,
  ): Promise<void>;
}

/** Feedback for a repetition of a task. */
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
  /** Identifies this attempt of the task: `{runId}/{identity}@{attempt}`. If the run is repeated with the same id, the key is the same. */
  readonly idempotencyKey: string;
  /** Aborted if the task or the run ends before the handler. */
  readonly signal: AbortSignal;
  readonly run: RunInfo;
  /** The ensemble's memory store. The scopes in the task's `memory` are written automatically after the handler. The handler may read them. */
  readonly memory: TaskMemory;
  /**
   * Returns the typed output of a task in `context`.
   * @throws ValidationError if the task is not in `context`.
   */
  getOutput<U>(task: Task<U>): TaskOutput<U>;
}

/**
 * A memory store for handlers. Writes fire hooks and receive the `metadata` of their origin. Reads
 * and writes are counted. Rejects with ValidationError if the ensemble has no store.
 */
export interface TaskMemory {
  /** Returns at most `maxResults` entries (default 5). */
  retrieve(scope: string, query: string, maxResults?: number): Promise<readonly MemoryEntry[]>;
  store(scope: string, entry: MemoryEntry): Promise<void>;
}

/** The second argument of `ensemble.run()`. */
export interface RunOptions {
  /** Cancels the run when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of the whole run in milliseconds. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Overrides the option of the ensemble. */
  readonly maxToolOutputLength?: number | undefined;
  /** Overrides the option of the ensemble. */
  readonly toolLogTruncateLength?: number | undefined;
  /** Overrides the option of the ensemble. */
  readonly captureMode?: CaptureMode | undefined;
  /** Labels of the run, added to every usage record and to the trace. Default: none. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** The id of the run. Default: created by the `IdGenerator`. */
  readonly runId?: string | undefined;
  /** Bindings for this run only. They take precedence over all other bindings. */
  readonly bindings?: ((bind: BindApi) => void) | undefined;
  /** Values for this run and the runs that join it, each created by `runValue(token, value)`. They take precedence over everything except `bindings`. */
  readonly values?: readonly RunValue[] | undefined;
  /** Whether a failed run rejects. `false`: the error is in `output.error`. Default true. */
  readonly throwOnError?: boolean | undefined;
  /** Grace period in milliseconds for work that ignores its signal after a stop. Default 250. */
  readonly cancelGraceMs?: number | undefined;
  /** Listeners for the events of this run, called after the ensemble's listeners. */
  readonly listeners?: readonly EnsembleListener[] | undefined;
  /**
   * Priority of the run's model calls, unless a delegation or a workflow sets a priority. Default:
   * the priority of the run joined with `parent`, else `NORMAL`.
   */
  readonly priority?: DelegationRequest["priority"] | undefined;
  /**
   * Joins this run to the ledger and the signal of another run. For an `ensemble.run()` inside a
   * handler, pass its context. Inside a tool, pass `ctx.scope`. Usage records then name the task as
   * `caller`. With `ctx.run`, the records have no `caller`.
   */
  readonly parent?: RunInfo | CallingTask | undefined;
}

/** A run in progress. `output` settles like the result of `run()`. `events` ends with the run. */
export interface RunHandle {
  readonly id: string;
  readonly events: AsyncIterable<EnsembleEvent>;
  readonly output: Promise<EnsembleOutput>;
  cancel(reason?: string): void;
}

/**
 * Whether a task or a part of the plan is the last of its run. A function if the answer depends on
 * the task's output or on other finished work. The function is called only with `reviewPolicy:
 * "AFTER_LAST_TASK"`, and receives the output before its acceptance.
 */
export type IsLast = boolean | ((output: TaskOutput) => boolean);

/** Options of one execution of a task. */
export interface RunTaskOptions {
  /** The number of the attempt. Default: one more than the number of the previous attempt. */
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
  /** Priority of the task's model calls, and of tasks that it delegates or runs. Default: the priority of the task that runs this task, else of the run. */
  readonly priority?: DelegationRequest["priority"] | undefined;
  /** A signal that ends this task. Tasks that share one signal use less memory. */
  readonly signal?: AbortSignal | undefined;
  /** Whether this is the last task of the run. Default: true for the last task of the plan. */
  readonly last?: IsLast | undefined;
}

/** Options of a task that is added during a run. */
export interface DefineOptions {
  /** The id of the task, unique within the run. Default: the task's name or number. */
  readonly id?: string | undefined;
  /** The parent task. The id of the new task becomes `{parentTaskId}.{n}`. */
  readonly parentTaskId?: string | undefined;
  readonly agent?: Agent | undefined;
  /** Whether `{name}` variables are filled from the run's inputs. Default false. */
  readonly template?: boolean | undefined;
  /** The purpose of the task's model calls in usage records. Default: `task`. */
  readonly purpose?: Purpose | undefined;
  /** Whether the output of the run omits this task's output. Default false. */
  readonly internal?: boolean | undefined;
  /** The task's position in a map-reduce tree, for the trace. */
  readonly mapReduce?: MapReduceNode | undefined;
}

/** Options for the tasks of a part of the plan. The workflow of the part may override them. */
export interface SubPlanOptions {
  /** A signal whose abort ends this part before the run ends. */
  readonly signal?: AbortSignal | undefined;
  /** Feedback for repeated tasks, by task id. */
  readonly revisions?: ReadonlyMap<string, Revision> | undefined;
  /** Whether this part is the last of the run. Default: unknown. The last task in the plan's list then counts as the last task. */
  readonly last?: IsLast | undefined;
}

/** The course of a loop, the graph or a phase, reported by its workflow. */
export type WorkflowReport =
  | { readonly kind: "loop"; readonly loop: Loop; readonly history: LoopHistory }
  | { readonly kind: "graph"; readonly graph: AnyGraph; readonly history: GraphHistory }
  | { readonly kind: "phase"; readonly phase: Phase; readonly outputs: readonly TaskOutput[] };

/** The API of workflows. After the run has stopped, `runTask` always rejects. A workflow must reject with the same error. */
export interface Run extends RunInfo {
  readonly signal: AbortSignal;
  readonly plan: Plan;
  /** Whether this part of the plan is the last of the run: `true` for the whole plan, `undefined` if the workflow does not set it. */
  readonly last?: IsLast | undefined;
  /** Executes one task with its hooks, guardrails, record and events. */
  runTask(taskId: string, extras?: RunTaskOptions): Promise<TaskOutput>;
  /** Runs a part of the plan with another workflow. Tasks outside of the part count as finished. */
  runWorkflow(
    name: string,
    taskIds: readonly string[],
    o?: SubPlanOptions,
  ): Promise<WorkflowResult>;
  /** Adds a task during the run and returns its id. */
  define(task: AnyTask, o?: DefineOptions): string;
  /** Returns the agent of a task. For a task without an agent, creates the agent once per run. Returns `undefined` for a task with a handler. */
  agentOf(taskId: string): Promise<Agent | undefined>;
  /** The agents available for tasks, one per role. */
  readonly workers: readonly Agent[];
  /** Records the course of a loop, the graph or a phase, for the output and the trace. The record is kept even if the run fails later. */
  reportWorkflow(part: WorkflowReport): void;
  emit(e: NewEvent): void;
  /** Returns whether an event of this type has a listener. Use it before an expensive event. */
  listens(type: EnsembleEvent["type"]): boolean;
  all<T>(token: Token<T, "many">): readonly T[];
}

/** Options of a delegation that a plugin may set in addition to the request. */
export interface DelegateOptions {
  /** The id of a task of the plan. This task runs with its schema, guardrails and context, in place of a new task. Default: a new task. */
  readonly taskId?: string | undefined;
  /** The expected output of the new task. */
  readonly expectedOutput?: string | undefined;
  /** The id of the delegating tool call. It is part of the identity of the worker's task: see `TaskCall.identity`. */
  readonly toolCallId?: string | undefined;
  /** The reason why the delegator refuses the request. No agent runs and no hook fires. The refusal is reported like any other refusal. */
  readonly refusal?: string | undefined;
  /** The agent that executes the subtask. It need not be one of the run's workers. Default: the worker with the role of the request. */
  readonly agent?: Agent | undefined;
  /** The schema of the new task's output. Default: the schema of the request. */
  readonly outputType?: OutputSchema<unknown> | undefined;
  /** Allowed only with `mode: "handoff"`: one of these agents takes over the task. No task is added. The executor continues after `handOver`. */
  readonly handoff?: HandoffTargets | undefined;
}

/** The agents that may take over a task, and the limit of transfers. */
export interface HandoffTargets {
  readonly agents: readonly Agent[];
  /** Number of transfers of the task so far. */
  readonly depth: number;
  /** Limit of the number of transfers. */
  readonly maxDepth: number;
}

/** Metrics that a plugin measures during a task. The engine adds all measures of a task. */
export interface TaskMetricsUpdate {
  readonly promptBuildMs?: number | undefined;
  readonly memoryRetrievalMs?: number | undefined;
  readonly memoryOperations?: Partial<MemoryOperationCounts> | undefined;
  /** Usage by other processes on behalf of the task. Counted in ledger, totals and trace with purpose `remote`. */
  readonly usage?: readonly ForeignUsage[] | undefined;
  /** The entries read or written. Kept only if the run's capture mode captures memory. A function is called only in that case. */
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
  /** The role of the task's agent. `(deterministic)` for a handler. */
  readonly agentRole: string;
  /** Position in the task list, counted from 1. 0 for a task added during the run. */
  readonly taskIndex: number;
  readonly attempt: number;
  readonly depth: number;
  readonly signal: AbortSignal;
  /** Calls the task's model, or the model in `o`, with retries, hooks and ledger. */
  chat(request: ChatRequest, o: ChatOptions): Promise<ChatResponse>;
  /** Whether responses are streamed immediately. True if `token` or `partial_output` events have a listener and tokens are not held back. */
  readonly streaming: boolean;
  /** The model that `chat` would call. Use it to read the model's capabilities. */
  readonly model: ChatModel;
  /**
   * Calls one of `tools`. For an unknown name, invalid input or a rejection, returns a failed
   * result.
   * @throws ToolExecutionError if the tool threw; ToolConfigurationError and ExitEarlySignal
   * unchanged.
   */
  callTool(call: ToolCall, tools: readonly AnyTool[]): Promise<ToolResult>;
  /** Records a tool call that was refused before its start. `text` is the text for the model. */
  skipTool(call: ToolCall, text: string): void;
  /** Delegates a subtask to another agent of the run. If the delegation is refused or fails, returns a response with status FAILURE. */
  delegate(request: DelegationRequest, o?: DelegateOptions): Promise<DelegationResponse>;
  /** Continues the task as another agent after an accepted handoff. The agent's role, model and rate limit then apply. */
  handOver(agent: Agent): void;
  /**
   * Writes to memory, with hooks, metrics and trace. Default target: a scope of the run's store.
   * @throws as `HookRun.writeMemory`.
   */
  writeMemory(scope: string, entry: MemoryEntry, target?: MemoryTarget): Promise<void>;
  /** Formats structured data for prompts. Returns `value` in the run's `contextFormat` if the result is shorter, else `text`. */
  format(value: unknown, text: string): string;
  /** Adds to the task's metrics of prompts and memory. */
  recordMetrics(measures: TaskMetricsUpdate): void;
  /** The run's limit of characters of a tool's output that the model receives. -1: no limit. */
  readonly maxToolOutputLength: number;
}
