import type { Agent } from "./agent.js";
import type { CaptureModeDefinition } from "./capture.js";
import type { ChatMessage, ChatResponse } from "./chat-model.js";
import type { ContentPart } from "./content.js";
import type { CapturedMessage, TracedPrompts } from "./captured-message.js";
import type { CostEstimate } from "./cost.js";
import type { AgentSummary } from "./dag.js";
import type { DelegationRequest } from "./delegation.js";
import type { AgentEnsembleError } from "./errors.js";
import type { GraphHistory } from "./graph.js";
import type { Loop, LoopHistory } from "./loop.js";
import type { MapReduceNode } from "./map-reduce.js";
import type { MemoryOperationCounts } from "./memory.js";
import type { ExecutionMetrics, ExitReason, TaskMetrics, TaskOutput } from "./output.js";
import type { ReviewDecision, ReviewRequest, ReviewTiming } from "./review.js";
import type { PartSummary } from "./part-summary.js";
import type { Redactor } from "./redaction.js";
import type { WorkflowReport } from "./run.js";
import type { RunInfo } from "./run-info.js";
import type { AnyTask } from "./task.js";
import type { Awaitable } from "./types.js";
import type { UsageRecord } from "./usage.js";

/** A model call in the engine's record. Contains references, not copies. */
export interface ModelCallRecord {
  readonly usage: UsageRecord;
  /** The number of the call within the task, from 0. Attempts of one call have the same number. */
  readonly iteration: number;
  /** The start by the monotonic clock, in milliseconds. */
  readonly startedMs: number;
  readonly response: ChatResponse | undefined;
  readonly error: Error | undefined;
  /** The tool calls that the response requested. Replaced by a longer list with each call. */
  tools: readonly ToolCallRecord[];
  /** The conversation sent to the model. Kept by capture modes that capture messages. */
  readonly messages?: readonly ChatMessage[] | undefined;
}

/** A tool call in the engine's record. */
export interface ToolCallRecord {
  readonly toolName: string;
  readonly arguments: string;
  readonly result: string;
  readonly structured: unknown;
  /** Images and files of the result. Absent if there are none. */
  readonly parts?: readonly ContentPart[] | undefined;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly outcome: ToolOutcome;
}

/** The outcome of a tool call. `SKIPPED_MAX_ITERATIONS`: refused due to the iteration limit. */
export type ToolOutcome =
  | "SUCCESS"
  | "FAILURE"
  | "ERROR"
  | "TIMED_OUT"
  | "REJECTED"
  | "CANCELLED"
  | "SKIPPED_MAX_ITERATIONS";

/** The outcome of a tool call that was made. */
export type CalledToolOutcome = Exclude<ToolOutcome, "SKIPPED_MAX_ITERATIONS">;

/** A read or a write of memory by a task. Kept by capture modes that capture memory. */
export interface MemoryAccess {
  readonly operation: "read" | "write";
  readonly kind: "scope" | "shortTerm" | "longTerm" | "entity";
  /** The name of the scope. Present only with `kind` scope. */
  readonly scope?: string | undefined;
  /** The texts of the entries. */
  readonly entries: readonly string[];
}

/** A delegation in the engine's record. `worker` is the record of the worker's task, if it ran. */
export interface DelegationRecord {
  readonly delegatorRole: string;
  readonly workerRole: string;
  readonly taskDescription: string;
  readonly depth: number;
  readonly priority: DelegationRequest["priority"];
  readonly startedMs: number;
  readonly endedMs: number;
  /** The mode of the delegation. Default `task`. */
  readonly mode?: DelegationRequest["mode"];
  readonly result: string;
  readonly succeeded: boolean;
  /** Whether a guard, a tap or the delegator refused. No agent ran then. Default false. */
  readonly refused?: boolean;
  readonly worker: TaskRecord | undefined;
}

/** One attempt of a task in the engine's record. */
export interface TaskRecord {
  readonly taskId: string;
  readonly parentTaskId: string | undefined;
  readonly attempt: number;
  readonly task: AnyTask;
  /** Ids of the tasks in the task's `context`. */
  readonly contextIds?: readonly string[];
  readonly agent: Agent | undefined;
  readonly agentRole: string;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly outcome: "running" | "ok" | "answered" | "rejected" | "failed" | "aborted";
  /** The conversation of the task's first model call. */
  readonly messages: readonly ChatMessage[] | undefined;
  readonly calls: readonly ModelCallRecord[];
  /** Tool calls of a task that called no model. */
  readonly tools: readonly ToolCallRecord[];
  readonly delegations: readonly DelegationRecord[];
  /** Number of tool calls in earlier executions that produced the answer. Not in `tools`. */
  readonly restoredToolCalls?: number | undefined;
  readonly output: TaskOutput | undefined;
  readonly error: Error | undefined;
  readonly metrics: TaskMetrics;
  /** Sums of the metrics of plugins. Missing if there are none. */
  readonly measures?:
    | {
        readonly promptBuildMs: number;
        readonly memoryRetrievalMs: number;
        readonly memoryOperations: MemoryOperationCounts;
      }
    | undefined;
  /** Reads and writes of memory. Missing if the capture mode does not capture them. */
  readonly memory?: readonly MemoryAccess[] | undefined;
  /** The task's position in a map-reduce tree. */
  readonly mapReduce?: MapReduceNode | undefined;
}

/** A review in the run's record. `FAIL`: the review ended without a decision. */
export interface ReviewRecord {
  readonly request: Omit<ReviewRequest, "signal">;
  /** The start by the monotonic clock, in milliseconds. */
  readonly startedMs: number;
  readonly endedMs: number;
  readonly decision: ReviewDecision["type"] | "FAIL";
  readonly timedOut: boolean;
  readonly by?: string | undefined;
  readonly comment?: string | undefined;
}

/** The complete record of a run, the source of traces. */
export interface RunRecord {
  readonly run: Pick<RunInfo, "id" | "inputs" | "tags" | "find">;
  readonly workflow: string;
  readonly startedAt: Date;
  /** The value of the monotonic clock at `startedAt`. */
  readonly startedMs: number;
  readonly endedMs: number;
  readonly exitReason: ExitReason;
  readonly error: AgentEnsembleError | undefined;
  readonly tasks: readonly TaskRecord[];
  readonly metrics: ExecutionMetrics;
  readonly warnings: readonly string[];
  readonly reports: readonly WorkflowReport[];
  readonly reviews: readonly ReviewRecord[];
  /** The capture mode. It determines the data in the trace. */
  readonly capture: CaptureModeDefinition;
  /** Removes the secrets known to the run. The record contains unredacted values. */
  readonly redactor: Redactor;
  /** The id of the run in a tracing system, if a tracing system is in use. */
  readonly traceId?: string | undefined;
}

/** Builds the trace of a finished run when it is first used. */
export interface TraceBuilder {
  build(record: RunRecord): ExecutionTrace;
}

/** A tool call in a trace. */
export interface ToolCallTrace {
  readonly toolName: string;
  readonly arguments: string;
  /** The parsed `arguments`. `{}` unless they are a JSON object. Only with capture mode FULL. */
  readonly parsedInput: Readonly<Record<string, unknown>> | undefined;
  /** The full text of the result. */
  readonly result: string;
  readonly structuredOutput: unknown;
  /** Images and files of the result. Absent if there are none. */
  readonly parts?: readonly PartSummary[] | undefined;
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly durationMs: number;
  readonly outcome: ToolOutcome;
}

/** A model call in a trace. A failed attempt is included, with `error`. */
export interface LlmInteraction {
  readonly iterationIndex: number;
  readonly attempt: number;
  readonly purpose: string;
  readonly provider: string;
  readonly modelId: string;
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly latencyMs: number;
  /** Number of input tokens. -1 if unknown. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
  /** The cost. `undefined` if the price is unknown. */
  readonly cost: number | undefined;
  readonly responseType: "TOOL_CALLS" | "FINAL_ANSWER" | "ERROR";
  readonly responseText: string;
  readonly finishReason: string | undefined;
  readonly error: string | undefined;
  /** The code of an error of the framework, for instance `AE_MODEL_RATE_LIMITED`. */
  readonly errorCode: string | undefined;
  readonly toolCalls: readonly ToolCallTrace[];
  /**
   * The whole conversation of the call, including the response. Empty in capture modes that do not
   * capture it (OFF).
   */
  readonly messages: readonly CapturedMessage[];
}

/** A delegation in a trace, including the worker's trace. */
export interface DelegationTrace {
  readonly delegatorRole: string;
  readonly workerRole: string;
  readonly taskDescription: string;
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly durationMs: number;
  readonly depth: number;
  readonly priority: DelegationRequest["priority"];
  readonly mode: NonNullable<DelegationRequest["mode"]>;
  readonly result: string;
  readonly succeeded: boolean;
  /** The id of the worker's task. `undefined` if no task ran. */
  readonly workerTaskId: string | undefined;
  /**
   * The trace of the worker's task. `undefined` for a manager's delegation, because `taskTraces`
   * contains the tasks of its workers.
   */
  readonly workerTrace: TaskTrace | undefined;
}

/** One attempt of a task in a trace. */
export interface TaskTrace {
  readonly taskId: string;
  /** The id of the task that delegated or ran this task. */
  readonly parentTaskId: string | undefined;
  readonly attempt: number;
  readonly outcome: TaskRecord["outcome"];
  readonly taskDescription: string;
  readonly expectedOutput: string;
  readonly agentRole: string;
  /** Ids of the tasks in the task's `context`. */
  readonly dependsOn: readonly string[];
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly durationMs: number;
  readonly prompts: TracedPrompts | undefined;
  readonly llmInteractions: readonly LlmInteraction[];
  readonly toolCalls: readonly ToolCallTrace[];
  readonly delegations: readonly DelegationTrace[];
  readonly finalOutput: string | undefined;
  readonly parsedOutput: unknown;
  readonly metrics: TaskMetrics;
  /** Reads and writes of memory. Empty in capture modes that do not capture them (OFF). */
  readonly memory: readonly MemoryAccess[];
  /** Present only in map-reduce runs. */
  readonly nodeType?: MapReduceNode["nodeType"];
  /** Present only in map-reduce runs. */
  readonly mapReduceLevel?: number;
}

/** A review in a trace: the question, the decision and its author, and the duration. */
export interface ReviewTrace {
  readonly reviewId: string;
  readonly taskId: string;
  readonly agentRole: string;
  readonly timing: ReviewTiming;
  /** The description of the task or the call for the person. */
  readonly description: string;
  readonly toolName: string | undefined;
  readonly requestedAt: Date;
  readonly resolvedAt: Date;
  readonly durationMs: number;
  /** The decision. `FAIL`: the review ended without a decision. */
  readonly decision: ReviewRecord["decision"];
  readonly timedOut: boolean;
  readonly by: string | undefined;
  readonly comment: string | undefined;
}

/** One level of a map-reduce run in a trace. */
export interface MapReduceLevelTrace {
  readonly level: number;
  readonly taskCount: number;
  /** The time from the first start to the last end, in milliseconds. */
  readonly durationMs: number;
  readonly workflow: "PARALLEL";
}

/** The course of a loop. In the traces of its tasks, `attempt` is the number of the iteration. */
export interface LoopTrace {
  readonly loopName: string;
  readonly iterationsRun: number;
  readonly maxIterations: number;
  /** `undefined` for an interrupted loop. */
  readonly terminationReason: LoopHistory["terminationReason"] | undefined;
  readonly onMaxIterations: Loop["onMaxIterations"];
  readonly outputMode: Loop["outputMode"];
  readonly memoryMode: Loop["memoryMode"];
  /** Names of the loop's tasks, for each iteration. */
  readonly iterations: readonly (readonly string[])[];
  /** Ids of these tasks, as in `taskTraces` and in diagrams. */
  readonly taskIds: readonly (readonly string[])[];
}

/** The path of a run through its graph. */
export interface GraphTrace {
  readonly graphName: string;
  readonly startState: string;
  /** `undefined` for an interrupted path. */
  readonly terminationReason: GraphHistory["terminationReason"] | undefined;
  readonly stepsRun: number;
  readonly maxSteps: number;
  readonly steps: readonly {
    readonly stateName: string;
    readonly stepNumber: number;
    readonly nextState: string;
  }[];
}

/** The tasks of a phase's last accepted attempt. */
export interface PhaseTrace {
  readonly name: string;
  readonly after: readonly string[];
  readonly taskIds: readonly string[];
}

/** A failure in a trace. */
export interface ErrorTrace {
  readonly taskId: string | undefined;
  readonly agentRole: string | undefined;
  readonly taskDescription: string | undefined;
  readonly errorType: string;
  readonly code: string | undefined;
  readonly message: string;
  readonly stackTrace: string | undefined;
  readonly occurredAt: Date;
}

/**
 * The trace of a run: schema 1.3 of the `.trace.json` format. Immutable. Contains none of the
 * secrets known to the framework.
 */
export interface ExecutionTrace {
  readonly schemaVersion: string;
  readonly captureMode: string;
  /** The id of the run, under its name in the format. */
  readonly ensembleId: string;
  readonly workflow: string;
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly totalDurationMs: number;
  readonly exitReason: ExitReason;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly agents: readonly AgentSummary[];
  readonly taskTraces: readonly TaskTrace[];
  readonly metrics: ExecutionMetrics;
  readonly errors: readonly ErrorTrace[];
  /** Present only in map-reduce runs. */
  readonly mapReduceLevels?: readonly MapReduceLevelTrace[];
  /** Empty without loops. */
  readonly loopTraces: readonly LoopTrace[];
  readonly graphTrace?: GraphTrace;
  /** Empty without phases. */
  readonly phases: readonly PhaseTrace[];
  readonly reviews?: readonly ReviewTrace[];
  /** The cost of the run. Equals `metrics.costEstimate`. */
  readonly totalCostEstimate?: CostEstimate | undefined;
  /** The id of the run in a tracing system (OpenTelemetry). Missing without a tracing system. */
  readonly traceId?: string | undefined;
  /** The results of the option `trace` of `runValue`, by token. Missing without such values. */
  readonly values?: Readonly<Record<string, unknown>> | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Returns the trace as indented JSON, with instants in ISO 8601 and durations as `PT..S`. */
  toJson(): string;
  /**
   * Writes the JSON to a file, completely or not at all. Creates missing folders. Capture modes
   * that keep files (FULL) also write `{name}.files/{sha256}.{extension}` next to the file.
   */
  save(path: string): Promise<void>;
}

/** Receives the trace of each finished run. If it throws, the run emits a `run_warning`. */
export type TraceExporter =
  { export(trace: ExecutionTrace): Awaitable<void> } | ((trace: ExecutionTrace) => Awaitable<void>);

/** Creates an exporter that writes each trace into a folder, for capture modes with `exportsTo`. */
export type FolderExporter = (folder: string) => TraceExporter;
