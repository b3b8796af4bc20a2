import type { Agent } from "./agent.js";
import type { CaptureModeDefinition } from "./capture.js";
import type { ChatMessage, ChatResponse } from "./chat-model.js";
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
import type { Redactor } from "./redaction.js";
import type { WorkflowReport } from "./run.js";
import type { RunInfo } from "./run-info.js";
import type { AnyTask } from "./task.js";
import type { Awaitable } from "./types.js";
import type { UsageRecord } from "./usage.js";

/** A model call as the kernel keeps it: references, no copies. */
export interface ModelCallRecord {
  readonly usage: UsageRecord;
  /** Counted from 0 within the task; attempts of one call share it. */
  readonly iteration: number;
  /** On the monotonic clock. */
  readonly startedMs: number;
  readonly response: ChatResponse | undefined;
  readonly error: Error | undefined;
  /** Those that it led to; one list with each later call. */
  tools: readonly ToolCallRecord[];
  /** The conversation as it was sent; kept by capture modes that want it. */
  readonly messages?: readonly ChatMessage[] | undefined;
}

/** A tool call as the kernel keeps it. */
export interface ToolCallRecord {
  readonly toolName: string;
  readonly arguments: string;
  readonly result: string;
  readonly structured: unknown;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly outcome: ToolOutcome;
}

/** How a tool call ended. `SKIPPED_MAX_ITERATIONS`: refused with the STOP text. */
export type ToolOutcome =
  | "SUCCESS"
  | "FAILURE"
  | "ERROR"
  | "TIMED_OUT"
  | "REJECTED"
  | "CANCELLED"
  | "SKIPPED_MAX_ITERATIONS";

/** How a tool call ended that was made. */
export type CalledToolOutcome = Exclude<ToolOutcome, "SKIPPED_MAX_ITERATIONS">;

/** What a task read from memory or wrote to it. Kept by capture modes that want it. */
export interface MemoryAccess {
  readonly operation: "read" | "write";
  readonly kind: "scope" | "shortTerm" | "longTerm" | "entity";
  /** Of `kind` scope. */
  readonly scope?: string | undefined;
  /** The texts of the entries. */
  readonly entries: readonly string[];
}

/** A delegation as the kernel keeps it. `worker` is the record of the task it led to, where it came to that. */
export interface DelegationRecord {
  readonly delegatorRole: string;
  readonly workerRole: string;
  readonly taskDescription: string;
  readonly depth: number;
  readonly priority: DelegationRequest["priority"];
  readonly startedMs: number;
  readonly endedMs: number;
  readonly result: string;
  readonly succeeded: boolean;
  /** Whether it was handed to nobody: a guard, a tap or its delegator refused it. Default `false`. */
  readonly refused?: boolean;
  readonly worker: TaskRecord | undefined;
}

/** One attempt of a task as the kernel keeps it. */
export interface TaskRecord {
  readonly taskId: string;
  readonly parentTaskId: string | undefined;
  readonly attempt: number;
  readonly task: AnyTask;
  /** Ids of the tasks in its `context`. */
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
  /** Tool calls of an earlier execution that led to its answer; they are not in `tools`. */
  readonly restoredToolCalls?: number | undefined;
  readonly output: TaskOutput | undefined;
  readonly error: Error | undefined;
  readonly metrics: TaskMetrics;
  /** What plugins measured, added up; missing where none did. */
  readonly measures?:
    | {
        readonly promptBuildMs: number;
        readonly memoryRetrievalMs: number;
        readonly memoryOperations: MemoryOperationCounts;
      }
    | undefined;
  /** What was read from memory and written to it; missing where the capture mode does not want it. */
  readonly memory?: readonly MemoryAccess[] | undefined;
  /** The task's place in a map-reduce tree. */
  readonly mapReduce?: MapReduceNode | undefined;
}

/** A review as the run keeps it. `FAIL`: there was no decision. */
export interface ReviewRecord {
  readonly request: Omit<ReviewRequest, "signal">;
  /** On the monotonic clock. */
  readonly startedMs: number;
  readonly endedMs: number;
  readonly decision: ReviewDecision["type"] | "FAIL";
  readonly timedOut: boolean;
  readonly by?: string | undefined;
  readonly comment?: string | undefined;
}

/** Everything a run leaves behind; what traces are built from. */
export interface RunRecord {
  readonly run: Pick<RunInfo, "id" | "inputs" | "tags">;
  readonly workflow: string;
  readonly startedAt: Date;
  /** The monotonic clock at `startedAt`. */
  readonly startedMs: number;
  readonly endedMs: number;
  readonly exitReason: ExitReason;
  readonly error: AgentEnsembleError | undefined;
  readonly tasks: readonly TaskRecord[];
  readonly metrics: ExecutionMetrics;
  readonly warnings: readonly string[];
  readonly reports: readonly WorkflowReport[];
  readonly reviews: readonly ReviewRecord[];
  /** How much the trace is to keep. */
  readonly capture: CaptureModeDefinition;
  /** Takes out the secrets that the run knows of. A record itself holds everything as it was. */
  readonly redactor: Redactor;
  /** Of a tracing system, where one is in use. */
  readonly traceId?: string | undefined;
}

/** Makes the trace of a finished run, when somebody first reads it. */
export interface TraceBuilder {
  build(record: RunRecord): ExecutionTrace;
}

/** A message of a model call's conversation, as capture modes from STANDARD on keep it. */
export interface CapturedMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** The text; images are named by their media type. */
  readonly content: string;
  /** What the model asked for; empty in all but assistant messages. */
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
  /** The tool that a tool message answers for. */
  readonly toolName: string | undefined;
}

/** One tool call in a trace. */
export interface ToolCallTrace {
  readonly toolName: string;
  readonly arguments: string;
  /** `arguments` as a value, `{}` where they are no JSON object; only in capture modes that parse them (FULL). */
  readonly parsedInput: Readonly<Record<string, unknown>> | undefined;
  /** The full text. */
  readonly result: string;
  readonly structuredOutput: unknown;
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly durationMs: number;
  readonly outcome: ToolOutcome;
}

/** One model call in a trace; attempts that failed are there too, with `error`. */
export interface LlmInteraction {
  readonly iterationIndex: number;
  readonly attempt: number;
  readonly purpose: string;
  readonly provider: string;
  readonly modelId: string;
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly latencyMs: number;
  /** -1 when unknown. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
  /** `undefined` where the call has no price. */
  readonly cost: number | undefined;
  readonly responseType: "TOOL_CALLS" | "FINAL_ANSWER" | "ERROR";
  readonly responseText: string;
  readonly finishReason: string | undefined;
  readonly error: string | undefined;
  /** Of an error of the framework's, for instance `AE_MODEL_RATE_LIMITED`. */
  readonly errorCode: string | undefined;
  readonly toolCalls: readonly ToolCallTrace[];
  /** The whole conversation of the call, its answer at the end; empty in capture modes that do not keep it (OFF). */
  readonly messages: readonly CapturedMessage[];
}

/** One delegation in a trace, with the worker's own trace inside. */
export interface DelegationTrace {
  readonly delegatorRole: string;
  readonly workerRole: string;
  readonly taskDescription: string;
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly durationMs: number;
  readonly depth: number;
  readonly priority: DelegationRequest["priority"];
  readonly result: string;
  readonly succeeded: boolean;
  /** The id of the task it led to, where it came to that. */
  readonly workerTaskId: string | undefined;
  /** That task; `undefined` where a manager delegated: the tasks of its workers stand in `taskTraces` themselves. */
  readonly workerTrace: TaskTrace | undefined;
}

/** One attempt of one task in a trace. */
export interface TaskTrace {
  readonly taskId: string;
  /** The task that delegated this one or ran it. */
  readonly parentTaskId: string | undefined;
  readonly attempt: number;
  readonly outcome: TaskRecord["outcome"];
  readonly taskDescription: string;
  readonly expectedOutput: string;
  readonly agentRole: string;
  /** Ids of the tasks in its `context`. */
  readonly dependsOn: readonly string[];
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly durationMs: number;
  readonly prompts: { readonly systemPrompt: string; readonly userPrompt: string } | undefined;
  readonly llmInteractions: readonly LlmInteraction[];
  readonly toolCalls: readonly ToolCallTrace[];
  readonly delegations: readonly DelegationTrace[];
  readonly finalOutput: string | undefined;
  readonly parsedOutput: unknown;
  readonly metrics: TaskMetrics;
  /** What was read from memory and written to it; empty in capture modes that do not keep it (OFF). */
  readonly memory: readonly MemoryAccess[];
  /** Only in map-reduce runs. */
  readonly nodeType?: MapReduceNode["nodeType"];
  /** Only in map-reduce runs. */
  readonly mapReduceLevel?: number;
}

/** A review in a trace: what was asked, who decided what, and how long that took. */
export interface ReviewTrace {
  readonly reviewId: string;
  readonly taskId: string;
  readonly agentRole: string;
  readonly timing: ReviewTiming;
  /** What the person was told of the task or the call. */
  readonly description: string;
  readonly toolName: string | undefined;
  readonly requestedAt: Date;
  readonly resolvedAt: Date;
  readonly durationMs: number;
  /** `FAIL`: there was no decision. */
  readonly decision: ReviewRecord["decision"];
  readonly timedOut: boolean;
  readonly by: string | undefined;
  readonly comment: string | undefined;
}

/** One level of a map-reduce run in a trace. */
export interface MapReduceLevelTrace {
  readonly level: number;
  readonly taskCount: number;
  /** From the first start to the last end. */
  readonly durationMs: number;
  readonly workflow: "PARALLEL";
}

/** What a loop did. Its tasks' traces bear the iteration as `attempt`. */
export interface LoopTrace {
  readonly loopName: string;
  readonly iterationsRun: number;
  readonly maxIterations: number;
  /** `undefined` for a loop that was cut short. */
  readonly terminationReason: LoopHistory["terminationReason"] | undefined;
  readonly onMaxIterations: Loop["onMaxIterations"];
  readonly outputMode: Loop["outputMode"];
  readonly memoryMode: Loop["memoryMode"];
  /** Names of the body's tasks, for each iteration. */
  readonly iterations: readonly (readonly string[])[];
  /** Their ids, as in `taskTraces` and in diagrams. */
  readonly taskIds: readonly (readonly string[])[];
}

/** The way a run took through its graph. */
export interface GraphTrace {
  readonly graphName: string;
  readonly startState: string;
  /** `undefined` for a walk that was cut short. */
  readonly terminationReason: GraphHistory["terminationReason"] | undefined;
  readonly stepsRun: number;
  readonly maxSteps: number;
  readonly steps: readonly {
    readonly stateName: string;
    readonly stepNumber: number;
    readonly nextState: string;
  }[];
}

/** What a phase did: the tasks of its last accepted attempt. */
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

/** What happened in a run: schema 1.3 of the `.trace.json` format. Immutable, and without the secrets that the framework knows of. */
export interface ExecutionTrace {
  readonly schemaVersion: string;
  readonly captureMode: string;
  /** The run's id, under the name the format gives it. */
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
  /** Of a map-reduce run. */
  readonly mapReduceLevels?: readonly MapReduceLevelTrace[];
  /** Empty without loops. */
  readonly loopTraces: readonly LoopTrace[];
  /** Missing without a graph. */
  readonly graphTrace?: GraphTrace;
  /** Empty without phases. */
  readonly phases: readonly PhaseTrace[];
  /** Missing where nobody was asked. */
  readonly reviews?: readonly ReviewTrace[];
  /** What the run cost, as in `metrics.costEstimate`; missing where that is. */
  readonly totalCostEstimate?: CostEstimate | undefined;
  /** Under which a tracing system (OpenTelemetry) knows the run; missing where none is in use. */
  readonly traceId?: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Pretty-printed JSON: instants as ISO-8601, durations as `PT..S`. */
  toJson(): string;
  /** Writes the JSON to a file, whole or not at all; folders are made. */
  save(path: string): Promise<void>;
}

/** Takes the trace of every finished run, whatever its outcome. What it throws becomes a `run_warning`. */
export type TraceExporter =
  { export(trace: ExecutionTrace): Awaitable<void> } | ((trace: ExecutionTrace) => Awaitable<void>);

/** Makes an exporter that writes each trace into a folder; for capture modes with `exportsTo`. */
export type FolderExporter = (folder: string) => TraceExporter;
