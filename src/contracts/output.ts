import type { AgentEnsembleError } from "./errors.js";
import type { GraphHistory } from "./graph.js";
import type { ContextFormatSavings } from "./context-format.js";
import type { CostEstimate } from "./cost.js";
import type { LoopHistory } from "./loop.js";
import type { MemoryOperationCounts } from "./memory.js";
import type { AnyTask, Task } from "./task.js";
import type { ExecutionTrace } from "./trace.js";
import type { OutputSchema } from "./types.js";
import type { UsageRecord } from "./usage.js";
import { ValidationError } from "./errors.js";

declare module "./errors.js" {
  interface ErrorContents {
    readonly ensembleOutput: EnsembleOutput;
    readonly taskOutput: TaskOutput;
  }
}

/** How a run ended. */
export type ExitReason =
  "COMPLETED" | "USER_EXIT_EARLY" | "TIMEOUT" | "CANCELLED" | "SUSPENDED" | "ERROR";

/** What a task's own model and tool calls used. A token count is -1 when one of the calls reported none. */
export interface TaskMetrics {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly llmCallCount: number;
  readonly toolCallCount: number;
  /** Time spent in model calls, in milliseconds. */
  readonly llmLatencyMs: number;
  /** Time spent in tools, in milliseconds; calls that ran side by side are added up. */
  readonly toolExecutionMs: number;
  /** Subtasks handed to other agents, whether or not those succeeded. */
  readonly delegationCount: number;
  /** Delegations that were refused before any agent was asked. */
  readonly refusedDelegationCount: number;
  /** Time spent reading memory, in milliseconds. */
  readonly memoryRetrievalMs: number;
  /** Time spent building prompts, in milliseconds. */
  readonly promptBuildMs: number;
  readonly memoryOperations: MemoryOperationCounts;
  /** What the calls cost, as far as their prices are known. Missing without `costConfiguration`, and where no price is known. */
  readonly costEstimate?: CostEstimate;
  /** What the calls cost when they were recorded that a replay answered; they are not in `costEstimate`. Missing where there are none with a price. */
  readonly recordedCost?: CostEstimate;
}

/** Memory that was not used. */
export const NO_MEMORY_OPERATIONS: MemoryOperationCounts = Object.freeze({
  shortTermEntriesWritten: 0,
  longTermStores: 0,
  longTermRetrievals: 0,
  entityLookups: 0,
  scopeReads: 0,
  scopeWrites: 0,
});

/** What was done without calling anything. */
export const NO_METRICS: TaskMetrics = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  llmCallCount: 0,
  toolCallCount: 0,
  llmLatencyMs: 0,
  toolExecutionMs: 0,
  delegationCount: 0,
  refusedDelegationCount: 0,
  memoryRetrievalMs: 0,
  promptBuildMs: 0,
  memoryOperations: NO_MEMORY_OPERATIONS,
});

/** How a tool was used in a run; calls refused because of the iteration limit do not count. */
export interface ToolUse {
  readonly toolName: string;
  readonly calls: number;
  /** Calls that did not succeed, for whatever reason. */
  readonly failures: number;
  /** All calls added up, in milliseconds. */
  readonly durationMs: number;
}

/** Totals of a run: everything that was called, whatever for. Calls without reported usage are counted in `unknownUsageCalls` instead of spoiling the sums. */
export interface ExecutionMetrics extends TaskMetrics {
  readonly unknownUsageCalls: number;
  /** What the run's `contextFormat` saved; missing with JSON. */
  readonly contextFormat?: ContextFormatSavings;
  /** One record for every attempt of every model call, in the order in which they ended. */
  readonly ledger: readonly UsageRecord[];
  /** The tools that were called, by name, in the order of their first calls. */
  readonly tools: readonly ToolUse[];
  readonly tasks: readonly {
    readonly taskId: string;
    readonly agentRole: string;
    readonly metrics: TaskMetrics;
  }[];
}

/** A finished task. */
export interface TaskOutput<T = unknown> {
  readonly taskId: string;
  /** The accepted text. */
  readonly raw: string;
  /** The task's value: by its schema, from its handler, or the text itself. */
  readonly parsed: T;
  readonly taskDescription: string;
  readonly agentRole: string;
  readonly completedAt: Date;
  readonly durationMs: number;
  /** Tool calls of all its attempts, each step of a pipeline included. Those of the tasks of a run add up to `totalToolCalls`, delegated tasks apart. */
  readonly toolCallCount: number;
  readonly metrics: TaskMetrics;
  /** The value again. @throws ValidationError where neither a schema nor a handler produced one, or where it does not fit the schema given. */
  getParsedOutput(): T;
  getParsedOutput<U>(schema: OutputSchema<U>): U;
}

/** What a run gives back, complete or partial. */
export interface EnsembleOutput {
  readonly runId: string;
  /** The final text. */
  readonly raw: string;
  /** In the order of the workflow: SEQUENTIAL and PARALLEL that of the task list. */
  readonly taskOutputs: readonly TaskOutput[];
  readonly totalDurationMs: number;
  readonly totalToolCalls: number;
  readonly metrics: ExecutionMetrics;
  readonly trace: ExecutionTrace;
  readonly exitReason: ExitReason;
  /** `exitReason === "COMPLETED"`. */
  readonly isComplete: boolean;
  /** What was finished; the same as `taskOutputs`. */
  readonly completedTasks: readonly TaskOutput[];
  readonly lastCompletedOutput?: TaskOutput;
  /** By phase name; empty without phases. */
  readonly phaseOutputs: ReadonlyMap<string, readonly TaskOutput[]>;
  /** By loop name; empty without loops. */
  readonly loops: ReadonlyMap<string, LoopHistory>;
  readonly graph?: GraphHistory;
  /** Why it ended, where it was not complete and `throwOnError` was false. */
  readonly error?: AgentEnsembleError;
  /** The output of a task of this ensemble; of the last attempt where it ran more than once. */
  getOutput<T>(task: Task<T>): TaskOutput<T> | undefined;
}

/** What a workflow returns: the final text and the outputs in its own order. */
export interface WorkflowResult {
  readonly raw: string;
  readonly taskOutputs: readonly TaskOutput[];
  readonly exitReason?: ExitReason | undefined;
}

/** The key under which an output keeps the `Task` object that the user wrote. */
export const SOURCE_TASK = Symbol.for("agentensemble/source-task");

/** The key of the method that makes an output again with a changed text or value. */
export const REVISE = Symbol.for("agentensemble/revise");

/** What a tap may change of an output. A new `raw` without `parsed` is parsed by the task's schema; without a schema it is the value. */
export interface OutputPatch {
  readonly raw?: unknown;
  readonly parsed?: unknown;
}

/** Returns the output with another text or value. @throws ValidationError for a text that does not fit the task's schema. */
export function reviseOutput(output: TaskOutput, patch: OutputPatch): TaskOutput {
  return (output as unknown as { [REVISE](p: OutputPatch): TaskOutput })[REVISE](patch); // the engine makes all outputs
}

/** The output of `task` among `outputs`, by the identity of the user's `Task`; the last one where there are several. */
export function findOutput<T>(
  outputs: readonly TaskOutput[],
  task: Task<T>,
): TaskOutput<T> | undefined {
  for (let i = outputs.length - 1; i >= 0; i--) {
    const output = outputs[i] as TaskOutput & { readonly [SOURCE_TASK]?: AnyTask };
    if (output[SOURCE_TASK] === task) return output as TaskOutput<T>; // made by that very task, so of its type
  }
  return undefined;
}

/** As {@link findOutput}. @throws ValidationError where the task is not among the context. */
export function contextOutput<T>(outputs: readonly TaskOutput[], task: Task<T>): TaskOutput<T> {
  const output = findOutput(outputs, task);
  if (output === undefined) {
    throw new ValidationError(`Task '${task.description}' is not in the context of this task`, {
      hint: "List it in `context`; a copy made with with() is another task.",
    });
  }
  return output;
}
