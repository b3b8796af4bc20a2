import type { DelegationRequest, DelegationResponse } from "./delegation.js";
import type { AgentEnsembleError } from "./errors.js";
import type { ExitReason, TaskOutput } from "./output.js";
import type { PartSummary } from "./part-summary.js";
import type { Redactor } from "./redaction.js";
import type { TaskReflection } from "./reflection.js";
import type { ReviewDecision, ReviewRequest } from "./review.js";
import type { Source } from "./tool-result.js";
import type { CalledToolOutcome } from "./trace.js";
import type {
  BudgetChangedEvent,
  BudgetExceededEvent,
  BudgetOpenedEvent,
  CallInDoubtEvent,
  EnsembleStartedEvent,
  EvBase,
  EvTask,
  FileChangedEvent,
  GraphStateCompletedEvent,
  GuardrailRefusedEvent,
  IterationLimitReachedEvent,
  LlmIterationCompletedEvent,
  LlmIterationStartedEvent,
  LoopIterationCompletedEvent,
  MemoryReadEvent,
  MemoryWrittenEvent,
  OutputCorrectedEvent,
  PartialOutputEvent,
  PhaseCompletedEvent,
  PhaseStartedEvent,
  RateLimitedEvent,
  ReasoningReceivedEvent,
  ReasoningTokenEvent,
  RetryScheduledEvent,
  RunFailedEvent,
  RunPlannedEvent,
  RunResumedEvent,
  RunSuspendedEvent,
  RunWarningEvent,
  TaskInputEvent,
  TaskPlace,
  TaskStartedEvent,
  TokenEvent,
  UsageRecordedEvent,
  TurnStartedEvent,
  TurnStoredEvent,
} from "./plain-events.js";
import { ValidationError } from "./errors.js";
import { checkOptions, knownNames, requireArray, requireFunction } from "./validation.js";

export type { EvBase, EvTask } from "./plain-events.js";

export type EnsembleCompletedEvent = EvBase<"ensemble_completed"> & {
  readonly exitReason: ExitReason;
  readonly totalDurationMs: number;
  readonly durationMs: number;
  readonly completedAt: string;
  readonly totalTokens: number;
  readonly totalToolCalls: number;
};
export type TaskCompletedEvent = EvTask<"task_completed"> &
  TaskPlace & {
    readonly startedAt: string;
    readonly completedAt: string;
    readonly durationMs: number;
    readonly toolCallCount: number;
    /** The tokens of all calls of the task. -1 if a call reported no usage. */
    readonly tokenCount: number;
    readonly taskOutput: TaskOutput;
  };
export type TaskFailedEvent = EvTask<"task_failed"> &
  TaskPlace & {
    readonly failedAt: string;
    readonly durationMs: number;
    readonly reason: string;
    readonly cause: AgentEnsembleError;
  };
interface ToolCallPlace {
  /** The id that the model assigned to the call. Unique within one response of the model. */
  readonly callId: string;
  /**
   * The number of the model call that requested the tool, as in `llm_iteration_completed`. -1 if no
   * model requested it.
   */
  readonly iteration: number;
}
/**
 * A tool call begins, before the check of its input and before any review. Each `tool_started` is
 * followed by one `tool_called`.
 */
export type ToolStartedEvent = EvTask<"tool_started"> &
  ToolCallPlace & {
    readonly toolName: string;
    /** The arguments as the model wrote them, unparsed. */
    readonly toolArguments: string;
    /** The option `title` of the tool. Absent if not set. */
    readonly title?: string;
    /** The option `private` of the tool. Also true for a delegating tool without the option. */
    readonly private?: boolean;
    /** Present if a page executes the call, after a `review_requested` with `expects: "output"`. */
    readonly client?: true;
    /**
     * Present if the tool has the option `untrusted`: the model receives the result as marked data.
     */
    readonly untrusted?: true;
  };
export type ToolCalledEvent = EvTask<"tool_called"> &
  ToolCallPlace & {
    readonly taskIndex: number;
    readonly toolName: string;
    readonly toolArguments: string;
    /** The full text of the result. `Error: ...` for a failure. */
    readonly toolResult: string;
    readonly structuredResult: unknown;
    /** The pages and documents that the result is based on. Absent if there are none. */
    readonly sources?: readonly Source[];
    /** Images and files of the result, without hashes. Absent if there are none. */
    readonly parts?: readonly PartSummary[];
    readonly durationMs: number;
    /** `SUCCESS`, or `FAILURE` for every other `toolOutcome`. */
    readonly outcome: "SUCCESS" | "FAILURE";
    /** The outcome in the record and the trace. */
    readonly toolOutcome: CalledToolOutcome;
  };
interface DelegationPlace {
  /** The id of the worker's task. Absent if the delegation was refused or a tap answered it. */
  readonly workerTaskId?: string;
  readonly delegationId: string;
  readonly delegatingAgentRole: string;
  readonly workerRole: string;
  readonly taskDescription: string;
  readonly delegationDepth: number;
  readonly request: DelegationRequest;
}
export type DelegationStartedEvent = EvTask<"delegation_started"> & DelegationPlace;
export type DelegationCompletedEvent = EvTask<"delegation_completed"> &
  DelegationPlace & { readonly durationMs: number; readonly response: DelegationResponse };
export type DelegationFailedEvent = EvTask<"delegation_failed"> &
  DelegationPlace & {
    readonly durationMs: number;
    readonly reason: string;
    readonly response: DelegationResponse;
    readonly cause?: Error;
  };
/**
 * A review is requested. The fields are the fields of the request. Anyone with the `reviewId` may
 * answer.
 */
export type ReviewRequestedEvent = EvTask<"review_requested"> &
  Omit<ReviewRequest, "runId" | "taskId" | "agentRole" | "signal">;
/** A review has a decision, made by a person or by the time limit. */
export type ReviewResolvedEvent = EvTask<"review_resolved"> & {
  readonly reviewId: string;
  readonly decision: ReviewDecision["type"] | "FAIL";
  readonly timedOut: boolean;
  /** The person who decided, if known. */
  readonly by?: string;
  readonly comment?: string;
  readonly durationMs: number;
};
export type TaskReflectedEvent = EvTask<"task_reflected"> & {
  readonly taskDescription: string;
  readonly reflection: TaskReflection;
  readonly isFirstReflection: boolean;
};
/** All events of a run, as a closed union. */
export type EnsembleEvent =
  | EnsembleStartedEvent
  | RunPlannedEvent
  | EnsembleCompletedEvent
  | RunResumedEvent
  | RunSuspendedEvent
  | CallInDoubtEvent
  | RunFailedEvent
  | TaskStartedEvent
  | TaskCompletedEvent
  | TaskFailedEvent
  | TaskInputEvent
  | LlmIterationStartedEvent
  | LlmIterationCompletedEvent
  | ReasoningReceivedEvent
  | ReasoningTokenEvent
  | UsageRecordedEvent
  | TokenEvent
  | TurnStartedEvent
  | TurnStoredEvent
  | ToolStartedEvent
  | ToolCalledEvent
  | GuardrailRefusedEvent
  | OutputCorrectedEvent
  | IterationLimitReachedEvent
  | DelegationStartedEvent
  | DelegationCompletedEvent
  | DelegationFailedEvent
  | FileChangedEvent
  | MemoryReadEvent
  | ReviewRequestedEvent
  | ReviewResolvedEvent
  | TaskReflectedEvent
  | PartialOutputEvent
  | BudgetOpenedEvent
  | BudgetChangedEvent
  | BudgetExceededEvent
  | MemoryWrittenEvent
  | RetryScheduledEvent
  | RateLimitedEvent
  | LoopIterationCompletedEvent
  | GraphStateCompletedEvent
  | PhaseStartedEvent
  | PhaseCompletedEvent
  | RunWarningEvent;

/** The name of an event. */
export type EventType = EnsembleEvent["type"];

/** The event of one type. */
export type Ev<K extends EventType> = Extract<EnsembleEvent, { readonly type: K }>;

/** An event without the fields that the run adds: `v`, `seq`, `runId` and `at`. */
export type NewEvent = EnsembleEvent extends infer E
  ? E extends EnsembleEvent
    ? Omit<E, "v" | "seq" | "runId" | "at">
    : never
  : never;

/**
 * One callback per event type. An ensemble's options and a listener's methods have the same names.
 */
export interface EnsembleCallbacks {
  readonly onTaskStart?: ((e: Ev<"task_started">) => void) | undefined;
  readonly onTaskComplete?: ((e: Ev<"task_completed">) => void) | undefined;
  readonly onTaskFailed?: ((e: Ev<"task_failed">) => void) | undefined;
  readonly onTaskInput?: ((e: Ev<"task_input">) => void) | undefined;
  readonly onLlmIterationStarted?: ((e: Ev<"llm_iteration_started">) => void) | undefined;
  readonly onLlmIterationCompleted?: ((e: Ev<"llm_iteration_completed">) => void) | undefined;
  readonly onToken?: ((e: Ev<"token">) => void) | undefined;
  readonly onToolCall?: ((e: Ev<"tool_called">) => void) | undefined;
  readonly onDelegationStarted?: ((e: Ev<"delegation_started">) => void) | undefined;
  readonly onDelegationCompleted?: ((e: Ev<"delegation_completed">) => void) | undefined;
  readonly onDelegationFailed?: ((e: Ev<"delegation_failed">) => void) | undefined;
  readonly onFileChanged?: ((e: Ev<"file_changed">) => void) | undefined;
  readonly onTaskReflected?: ((e: Ev<"task_reflected">) => void) | undefined;
  readonly onReviewRequested?: ((e: Ev<"review_requested">) => void) | undefined;
  readonly onReviewResolved?: ((e: Ev<"review_resolved">) => void) | undefined;
  readonly onLoopIterationCompleted?: ((e: Ev<"loop_iteration_completed">) => void) | undefined;
  readonly onGraphStateCompleted?: ((e: Ev<"graph_state_completed">) => void) | undefined;
  readonly onEnsembleStarted?: ((e: Ev<"ensemble_started">) => void) | undefined;
  readonly onEnsembleCompleted?: ((e: Ev<"ensemble_completed">) => void) | undefined;
}

/**
 * A listener. An error that it throws is reported once as `run_warning` and has no other effect.
 */
export interface EnsembleListener extends EnsembleCallbacks {
  /**
   * Receives every event, including events without a callback. Does not turn on streaming, unlike
   * `onToken`.
   */
  readonly on?: ((event: EnsembleEvent) => void) | undefined;
}

/** The event type of each callback. */
export const CALLBACK_EVENTS: { readonly [K in keyof EnsembleCallbacks]-?: EnsembleEvent["type"] } =
  Object.freeze({
    onTaskStart: "task_started",
    onTaskComplete: "task_completed",
    onTaskFailed: "task_failed",
    onTaskInput: "task_input",
    onLlmIterationStarted: "llm_iteration_started",
    onLlmIterationCompleted: "llm_iteration_completed",
    onToken: "token",
    onToolCall: "tool_called",
    onDelegationStarted: "delegation_started",
    onDelegationCompleted: "delegation_completed",
    onDelegationFailed: "delegation_failed",
    onFileChanged: "file_changed",
    onTaskReflected: "task_reflected",
    onReviewRequested: "review_requested",
    onReviewResolved: "review_resolved",
    onLoopIterationCompleted: "loop_iteration_completed",
    onGraphStateCompleted: "graph_state_completed",
    onEnsembleStarted: "ensemble_started",
    onEnsembleCompleted: "ensemble_completed",
  });

/** One key for each event type. */
const TYPES: Readonly<Record<EventType, true>> = {
  ensemble_started: true,
  ensemble_completed: true,
  run_planned: true,
  run_resumed: true,
  run_suspended: true,
  call_in_doubt: true,
  run_failed: true,
  task_started: true,
  task_completed: true,
  task_failed: true,
  task_input: true,
  llm_iteration_started: true,
  llm_iteration_completed: true,
  reasoning_received: true,
  reasoning_token: true,
  usage_recorded: true,
  token: true,
  turn_started: true,
  turn_stored: true,
  tool_started: true,
  tool_called: true,
  guardrail_refused: true,
  output_corrected: true,
  iteration_limit_reached: true,
  delegation_started: true,
  delegation_completed: true,
  delegation_failed: true,
  file_changed: true,
  memory_read: true,
  memory_written: true,
  review_requested: true,
  review_resolved: true,
  task_reflected: true,
  partial_output: true,
  budget_opened: true,
  budget_changed: true,
  budget_exceeded: true,
  retry_scheduled: true,
  rate_limited: true,
  phase_started: true,
  phase_completed: true,
  loop_iteration_completed: true,
  graph_state_completed: true,
  run_warning: true,
};

/** Options of an observer of a kernel's events. */
export interface ObserveOptions {
  /**
   * The delivered event types. Events of other types are not built for this observer. An unknown
   * type is refused. Default: all types.
   */
  readonly only?: readonly EventType[] | undefined;
  /**
   * Called before each model call. `true` streams the call: its tokens become events. Default:
   * tokens are delivered only if another option turns on streaming. The option `streaming` of the
   * ensemble takes precedence. With `only`, the list must contain `token`.
   */
  readonly tokens?: (() => boolean) | undefined;
}

/**
 * Subscribes observers to the events of a kernel. `on` returns a function that ends the
 * subscription. Events contain unredacted values. An observer that shows or stores the values must
 * first redact them with the redactor.
 */
export interface EventStream {
  /**
   * @throws ValidationError for an unknown type in `only`, and for options that exclude each other.
   */
  on(fn: (e: EnsembleEvent, redactor: Redactor) => void, o?: ObserveOptions): () => void;
}

/**
 * @throws ValidationError for a non-function, for an unknown type, and for options without effect.
 */
export function checkObserver(fn: unknown, o: ObserveOptions): void {
  requireFunction("events.on's first argument", fn ?? null);
  checkOptions("events.on", o, ["only", "tokens"]);
  requireArray("events.on only", o.only);
  requireFunction("events.on tokens", o.tokens);
  for (const type of o.only?.map(String) ?? [])
    if (!Object.hasOwn(TYPES, type))
      throw new ValidationError(
        `Unknown type '${type}' in events.on only. ${knownNames(type, Object.keys(TYPES), ", all in docs/events.md")}`,
      );
  if (o.tokens !== undefined && o.only?.includes("token") === false)
    throw new ValidationError('events.on tokens has no effect: add "token" to only');
}
