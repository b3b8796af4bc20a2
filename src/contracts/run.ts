import type { Agent } from "./agent.js";
import type { ChatModel, ChatRequest, ChatResponse, Purpose, ToolCall } from "./chat-model.js";
import type { DelegationRequest, DelegationResponse } from "./delegation.js";
import type { EnsembleEvent, NewEvent } from "./events.js";
import type { AnyGraph } from "./ensemble-options.js";
import type { GraphHistory } from "./graph.js";
import type { Loop, LoopHistory } from "./loop.js";
import type { MapReduceNode } from "./map-reduce.js";
import type { CaptureMode } from "./capture.js";
import type { Phase } from "./phase.js";
import type { MemoryEntry, MemoryOperationCounts } from "./memory.js";
import type { TaskOutput, WorkflowResult } from "./output.js";
import type { Plan } from "./plan.js";
import type { BindApi } from "./plugin.js";
import type { AnyTask, Task } from "./task.js";
import type { MemoryAccess } from "./trace.js";
import type { Token } from "./tokens.js";
import type { AnyTool, ToolResult } from "./tool.js";
import type { Inputs } from "./types.js";

/** What anyone may know about a run. */
export interface RunInfo {
  readonly id: string;
  readonly inputs: Inputs;
  readonly tags: Readonly<Record<string, string>>;
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
  /** `false`: a failed run resolves, with `output.error`. Default true. */
  readonly throwOnError?: boolean | undefined;
  /** How long work that ignores its signal is waited for after a stop, in milliseconds. Default 250. */
  readonly cancelGraceMs?: number | undefined;
  /** Joins this run to the ledger and the signal of another, for an `ensemble.run()` inside a handler or tool: pass `ctx.run`. */
  readonly parent?: RunInfo | undefined;
}

/**
 * Whether a task, or a part of the plan, is the last of its run. A function where that follows from the task's output, or from what else is done by then;
 * it is asked only where somebody wants to know (`reviewPolicy: "AFTER_LAST_TASK"`), when the output is there and before it is accepted.
 */
export type IsLast = boolean | ((output: TaskOutput) => boolean);

/** Per-call changes to how a task is run. */
export interface TaskExtras {
  /** Default: one more than the task's last. */
  readonly attempt?: number | undefined;
  readonly revision?: Revision | undefined;
  /** Instead of the outputs of the tasks in `context`. */
  readonly contextOutputs?: readonly TaskOutput[] | undefined;
  readonly agent?: Agent | undefined;
  readonly parentTaskId?: string | undefined;
  /** Delegation depth. Default 0. */
  readonly depth?: number | undefined;
  /** Of the task's model calls, and of those of the tasks it delegates or runs. Default: that of the task which runs it, else `NORMAL`. */
  readonly priority?: DelegationRequest["priority"] | undefined;
  /** Ends this task earlier than the run. Tasks that share a signal share its cost. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the run is done with this task. Default: the last one in the plan's list is taken for it. */
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
  /** Its place in a map-reduce tree, for the trace. */
  readonly mapReduce?: MapReduceNode | undefined;
}

/** What holds for every task of a part of the plan, where the workflow that runs it says nothing else. */
export interface PartOptions {
  /** Ends this part earlier than the run. */
  readonly signal?: AbortSignal | undefined;
  /** By task id: feedback for tasks that are done again. */
  readonly revisions?: ReadonlyMap<string, Revision> | undefined;
  /** Whether the run is done with this part. Default: not said, and the last task in the plan's list is taken for the last one. */
  readonly last?: IsLast | undefined;
}

/** What workflows report beside the outputs of tasks. */
export type RunReport =
  | { readonly kind: "loop"; readonly loop: Loop; readonly history: LoopHistory }
  | { readonly kind: "graph"; readonly graph: AnyGraph; readonly history: GraphHistory }
  | { readonly kind: "phase"; readonly phase: Phase; readonly outputs: readonly TaskOutput[] };

/** What a workflow may do. After the run has been stopped every `runTask` rejects; let it through. */
export interface Run {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly inputs: Inputs;
  readonly plan: Plan;
  /** Whether the run is done with this part of the plan: `true` for the whole plan, `undefined` where the workflow that runs the part does not say. */
  readonly last?: IsLast | undefined;
  /** Does one task, with everything that belongs to it: hooks, guardrails, record, events. */
  runTask(taskId: string, extras?: TaskExtras): Promise<TaskOutput>;
  /** Runs a part of the plan with another workflow; context outside the part counts as satisfied. */
  runWorkflow(name: string, taskIds: readonly string[], o?: PartOptions): Promise<WorkflowResult>;
  /** Adds a task during the run and returns its id. */
  define(task: AnyTask, o?: DefineOptions): string;
  /** The agent of a task: its own, else the one made for it, once per run. `undefined` for a task with a handler. */
  agentOf(taskId: string): Promise<Agent | undefined>;
  /** Agents that tasks can be handed to, one per role. */
  readonly workers: readonly Agent[];
  /** Keeps what a loop, the graph or a phase did, for the output and the trace, also of a run that fails later. */
  report(part: RunReport): void;
  emit(e: NewEvent): void;
  /** Whether anybody would see an event of this type: ask before building an expensive one. */
  listens(type: EnsembleEvent["type"]): boolean;
  /** The run's value of a token: run option, ensemble option, container binding, default. @throws ValidationError where there is none. */
  get<T>(token: Token<T>): T;
  /** The same, `undefined` where nothing is bound. */
  find<T>(token: Token<T>): T | undefined;
  all<T>(token: Token<T, "many">): readonly T[];
}

/** What a delegating plugin may add to a request. */
export interface DelegateOptions {
  /** Run this task of the plan, with its own schema, guardrails and context, instead of a new one. */
  readonly taskId?: string | undefined;
  /** What the new task is expected to produce. */
  readonly expectedOutput?: string | undefined;
}

/** What plugins measured while a task ran; the kernel adds it up. */
export interface TaskMeasures {
  readonly promptBuildMs?: number | undefined;
  readonly memoryRetrievalMs?: number | undefined;
  readonly memoryOperations?: Partial<MemoryOperationCounts> | undefined;
  /** What was read or written; kept only where the run's capture mode wants it. */
  readonly memory?: MemoryAccess | undefined;
}

/** What an executor, a tool and a handler may do while a task runs. */
export interface TaskScope extends Pick<
  Run,
  "workers" | "runTask" | "define" | "emit" | "listens" | "get" | "all"
> {
  readonly run: RunInfo;
  readonly taskId: string;
  readonly parentTaskId: string | undefined;
  /** Place in the task list, counted from 1; 0 for a task added during the run. */
  readonly taskIndex: number;
  readonly attempt: number;
  readonly depth: number;
  readonly signal: AbortSignal;
  /** Calls the task's model (or the one given). Retries, hooks and the ledger are inside. */
  chat(
    request: ChatRequest,
    o: {
      readonly purpose: Purpose;
      readonly model?: ChatModel | undefined;
      readonly onToken?: ((text: string) => void) | undefined;
    },
  ): Promise<ChatResponse>;
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
  writeMemory(scope: string, entry: MemoryEntry): Promise<void>;
  /** How structured data stands in prompts: `value` in the run's `contextFormat` where that is shorter, else `text`. */
  format(value: unknown, text: string): string;
  /** Adds to what the task's metrics say about prompts and memory. */
  note(measures: TaskMeasures): void;
  /** The run's limit for tool output sent to the model; -1 for none. */
  readonly maxToolOutputLength: number;
}
