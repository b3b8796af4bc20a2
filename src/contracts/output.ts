import type { AgentEnsembleError } from "./errors.js";
import type { GraphHistory } from "./graph.js";
import type { ContextFormatSavings } from "./context-format.js";
import type { CostEstimate } from "./cost.js";
import type { LoopHistory } from "./loop.js";
import type { MemoryOperationCounts } from "./memory.js";
import type { AnyTask, Task } from "./task.js";
import type { ExecutionTrace } from "./trace.js";
import type { OutputSchema } from "./types.js";
import type { SavedUsage, UsageRecord } from "./usage.js";
import { ValidationError } from "./errors.js";

declare module "./errors.js" {
  interface ErrorContents {
    readonly ensembleOutput: EnsembleOutput;
    readonly taskOutput: TaskOutput;
  }
}

/** The reason for the end of a run. */
export type ExitReason =
  "COMPLETED" | "USER_EXIT_EARLY" | "TIMEOUT" | "CANCELLED" | "SUSPENDED" | "ERROR";

/** Usage of a task's model and tool calls. A token count is -1 if a call reported no tokens. */
export interface TaskMetrics {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly llmCallCount: number;
  readonly toolCallCount: number;
  /** Time spent in model calls, in milliseconds. */
  readonly llmLatencyMs: number;
  /** Time spent in tools, in milliseconds. The times of parallel calls are added. */
  readonly toolExecutionMs: number;
  /** Number of subtasks delegated to other agents, with any outcome. */
  readonly delegationCount: number;
  /** Number of delegations refused before an agent ran. */
  readonly refusedDelegationCount: number;
  /** Time spent reading memory, in milliseconds. */
  readonly memoryRetrievalMs: number;
  /** Time spent building prompts, in milliseconds. */
  readonly promptBuildMs: number;
  readonly memoryOperations: MemoryOperationCounts;
  /**
   * The cost of the calls with a known price. Missing without `costConfiguration`, and if no price
   * is known.
   */
  readonly costEstimate?: CostEstimate;
  /**
   * The recorded cost of replayed calls, not included in `costEstimate`. Missing if there are no
   * such calls, or if their prices are unknown.
   */
  readonly recordedCost?: CostEstimate;
}

/** The counts of a run without memory operations. */
export const NO_MEMORY_OPERATIONS: MemoryOperationCounts = Object.freeze({
  shortTermEntriesWritten: 0,
  longTermStores: 0,
  longTermRetrievals: 0,
  entityLookups: 0,
  scopeReads: 0,
  scopeWrites: 0,
});

/** The metrics of a task without any call. */
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

/** Usage of one tool in a run. Excludes calls refused because of the iteration limit. */
export interface ToolUse {
  readonly toolName: string;
  readonly calls: number;
  /** Number of failed calls, with any reason. */
  readonly failures: number;
  /** Total duration of all calls, in milliseconds. */
  readonly durationMs: number;
}

/**
 * Totals of a run over all calls, for any purpose. Calls without reported usage are counted in
 * `unknownUsageCalls` and excluded from the totals.
 */
export interface ExecutionMetrics extends TaskMetrics {
  readonly unknownUsageCalls: number;
  /** Savings of the run's `contextFormat`. Missing if the format is JSON. */
  readonly contextFormat?: ContextFormatSavings;
  /**
   * The usage of earlier executions that this execution did not repeat. Missing in the first
   * execution, and without `durable()`.
   */
  readonly saved?: SavedUsage;
  /** One record for each attempt of each model call, ordered by the end of the attempt. */
  readonly ledger: readonly UsageRecord[];
  /** The called tools by name, in the order of their first calls. */
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
  /** The text of the accepted output. */
  readonly raw: string;
  /** The task's value: parsed by its schema, returned by its handler, or the text. */
  readonly parsed: T;
  readonly taskDescription: string;
  readonly agentRole: string;
  readonly completedAt: Date;
  readonly durationMs: number;
  /**
   * Tool calls of all attempts, including each step of a pipeline. The sum over a run's tasks,
   * without delegated tasks, equals `totalToolCalls`.
   */
  readonly toolCallCount: number;
  readonly metrics: TaskMetrics;
  /**
   * Returns the value.
   * @throws ValidationError if neither a schema nor a handler produced a value. Also if the value
   * does not match the given schema.
   */
  getParsedOutput(): T;
  getParsedOutput<U>(schema: OutputSchema<U>): U;
}

/** The output of a run, complete or partial. */
export interface EnsembleOutput {
  readonly runId: string;
  /** The final text of the run. */
  readonly raw: string;
  /**
   * The outputs in the order of the workflow. SEQUENTIAL and PARALLEL use the order of the task
   * list.
   */
  readonly taskOutputs: readonly TaskOutput[];
  readonly totalDurationMs: number;
  readonly totalToolCalls: number;
  readonly metrics: ExecutionMetrics;
  readonly trace: ExecutionTrace;
  readonly exitReason: ExitReason;
  /** Whether the exit reason is `COMPLETED`. */
  readonly isComplete: boolean;
  /** The finished tasks. Equals `taskOutputs`. */
  readonly completedTasks: readonly TaskOutput[];
  readonly lastCompletedOutput?: TaskOutput;
  /** The outputs by phase name. Empty without phases. */
  readonly phaseOutputs: ReadonlyMap<string, readonly TaskOutput[]>;
  /** The course of each loop by its name. Empty without loops. */
  readonly loops: ReadonlyMap<string, LoopHistory>;
  readonly graph?: GraphHistory;
  /** The error that ended the run. Present only with `throwOnError: false`. */
  readonly error?: AgentEnsembleError;
  /**
   * Returns the output of a task of this ensemble. For a task that ran several times, returns the
   * output of its last attempt.
   */
  getOutput<T>(task: Task<T>): TaskOutput<T> | undefined;
}

/** The result of a workflow: the final text, and the outputs in the workflow's order. */
export interface WorkflowResult {
  readonly raw: string;
  readonly taskOutputs: readonly TaskOutput[];
  readonly exitReason?: ExitReason | undefined;
}

/** The key under which an output keeps the `Task` object that the user passed. */
export const SOURCE_TASK = Symbol.for("agentensemble/source-task");

/** The key of the method that creates a changed output from a new text or value. */
export const REVISE = Symbol.for("agentensemble/revise");

/**
 * Changes that a tap makes to an output. A new `raw` without `parsed` is parsed by the task's
 * schema. If there is no schema, `raw` is also the value.
 */
export interface OutputPatch {
  readonly raw?: unknown;
  readonly parsed?: unknown;
}

/**
 * Returns a copy of the output with another text or value.
 * @throws ValidationError for a text that does not match the task's schema.
 */
export function reviseOutput(output: TaskOutput, patch: OutputPatch): TaskOutput {
  // The engine creates all outputs.
  return (output as unknown as { [REVISE](p: OutputPatch): TaskOutput })[REVISE](patch);
}

/**
 * Returns the output of `task` in `outputs`, found by the identity of the user's `Task` object. If
 * several outputs match, returns the last one.
 */
export function findOutput<T>(
  outputs: readonly TaskOutput[],
  task: Task<T>,
): TaskOutput<T> | undefined {
  for (let i = outputs.length - 1; i >= 0; i--) {
    const output = outputs[i] as TaskOutput & { readonly [SOURCE_TASK]?: AnyTask };
    // The task created this output: it has the task's type.
    if (output[SOURCE_TASK] === task) return output as TaskOutput<T>;
  }
  return undefined;
}

/**
 * Returns the output of a task in the context, as {@link findOutput}.
 * @throws ValidationError if the task is not in the context.
 */
export function contextOutput<T>(outputs: readonly TaskOutput[], task: Task<T>): TaskOutput<T> {
  const output = findOutput(outputs, task);
  if (output === undefined) {
    throw new ValidationError(`Task '${task.description}' is not in the context of this task`, {
      hint: "List it in `context`; a copy made with with() is another task.",
    });
  }
  return output;
}
