import type { Dag } from "./dag.js";
import type { DelegationRequest, DelegationResponse } from "./delegation.js";
import type { AgentEnsembleError } from "./errors.js";
import type { ChatMessage } from "./chat-model.js";
import type { ExitReason, TaskOutput } from "./output.js";
import type { Redactor } from "./redaction.js";
import type { TaskReflection } from "./reflection.js";
import type { ReviewDecision, ReviewRequest } from "./review.js";
import type { CalledToolOutcome } from "./trace.js";
import type { Inputs } from "./types.js";
import type { UsageRecord } from "./usage.js";

/** What every event has: `seq` counts the events of a run without gaps, `at` is an ISO instant. */
export interface EvBase<T extends string> {
  readonly type: T;
  readonly v: 1;
  readonly seq: number;
  readonly runId: string;
  readonly at: string;
}

/** What every event of a task has. */
export interface EvTask<T extends string> extends EvBase<T> {
  readonly taskId: string;
  readonly parentTaskId?: string;
  readonly agentRole: string;
}

interface TaskPlace {
  /** Counted from 1; 0 for a task added during the run. */
  readonly taskIndex: number;
  readonly totalTasks: number;
  readonly taskDescription: string;
  /**
   * Counts how often the task is done, from 1. `task_completed` and `task_failed` bear the last attempt: guardrails may have had the task done again
   * since its `task_started`.
   */
  readonly attempt: number;
}

export type EnsembleStartedEvent = EvBase<"ensemble_started"> & {
  readonly workflow: string;
  readonly totalTasks: number;
  readonly startedAt: string;
  /** How this run is logged. */ readonly verbose: boolean;
  readonly toolLogTruncateLength: number;
};
export type EnsembleCompletedEvent = EvBase<"ensemble_completed"> & {
  readonly exitReason: ExitReason;
  readonly totalDurationMs: number;
  readonly durationMs: number;
  readonly completedAt: string;
  readonly totalTokens: number;
  readonly totalToolCalls: number;
};
/** The plan of a run, before its first task begins. */
export type RunPlannedEvent = EvBase<"run_planned"> & {
  /** The options `name` and `description` of the ensemble; each is absent where it is not set. */
  readonly ensemble: { readonly name?: string; readonly description?: string };
  /** Those of the ensemble and of the run. */
  readonly inputs: Inputs;
  readonly tags: Readonly<Record<string, string>>;
  /** With its templates filled. Absent where nothing is bound to `Tokens.PlanDiagram`, and where the plan can't be drawn. */
  readonly dag?: Dag;
};
export type RunFailedEvent = EvBase<"run_failed"> & {
  readonly code: string;
  readonly message: string;
};
export type TaskStartedEvent = EvTask<"task_started"> &
  TaskPlace & {
    readonly startedAt: string;
    /** Whether its agent or the ensemble is verbose. */ readonly verbose: boolean;
  };
export type TaskCompletedEvent = EvTask<"task_completed"> &
  TaskPlace & {
    readonly startedAt: string;
    readonly completedAt: string;
    readonly durationMs: number;
    readonly toolCallCount: number;
    /** -1 when one of the task's calls reported no usage. */
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
export type TaskInputEvent = EvTask<"task_input"> & {
  readonly taskIndex: number;
  readonly taskDescription: string;
  readonly expectedOutput: string;
  readonly agentGoal: string;
  readonly agentBackground: string | undefined;
  readonly toolNames: readonly string[];
  readonly systemPrompt: string;
  readonly userPrompt: string;
  /** The user prompt again, under its name on the wire. */
  readonly assembledContext: string;
};
export type LlmIterationStartedEvent = EvTask<"llm_iteration_started"> & {
  readonly taskDescription: string;
  readonly iteration: number;
  readonly iterationIndex: number;
  readonly messages: readonly ChatMessage[];
  readonly totalMessageCount: number;
};
export type LlmIterationCompletedEvent = EvTask<"llm_iteration_completed"> & {
  readonly taskDescription: string;
  readonly iteration: number;
  readonly iterationIndex: number;
  readonly durationMs: number;
  readonly latencyMs: number;
  readonly responseType: "TOOL_CALLS" | "FINAL_ANSWER";
  readonly responseText: string;
  readonly toolRequests: readonly { readonly name: string; readonly arguments: string }[];
  readonly inputTokens: number;
  readonly outputTokens: number;
};
/** An attempt of a model call has ended: the record that usage reports and budgets count. Runs that joined this one emit their own. */
export type UsageRecordedEvent = EvBase<"usage_recorded"> &
  UsageRecord & {
    /** As in `llm_iteration_completed`; absent for usage of other processes. */
    readonly iteration?: number;
    /** The message of what failed. */
    readonly error?: string;
    readonly errorCode?: string;
  };
export type TokenEvent = EvTask<"token"> & {
  readonly token: string;
  readonly taskDescription: string;
};
interface ToolCallPlace {
  /** The id by which the model named the call; unique within one answer of the model. */
  readonly callId: string;
  /** The model call that asked for it, as in `llm_iteration_completed`; -1 where no model asked. */
  readonly iteration: number;
}
/** A tool call begins: before its input is checked and before anybody is asked. Each has one `tool_called`. */
export type ToolStartedEvent = EvTask<"tool_started"> &
  ToolCallPlace & {
    readonly toolName: string;
    /** As the model wrote them. */
    readonly toolArguments: string;
    /** The options of the tool; absent where they are not set. */
    readonly title?: string;
    readonly private?: boolean;
  };
export type ToolCalledEvent = EvTask<"tool_called"> &
  ToolCallPlace & {
    readonly taskIndex: number;
    readonly toolName: string;
    readonly toolArguments: string;
    /** The full text, `Error: ...` for a failure. */
    readonly toolResult: string;
    readonly structuredResult: unknown;
    readonly durationMs: number;
    readonly outcome: "SUCCESS" | "FAILURE";
    /** The same in more words. */
    readonly toolOutcome: CalledToolOutcome;
  };
interface DelegationPlace {
  /** The task that the worker does; absent where there is none, because the delegation was refused or answered. */
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
/** A tool has changed a file of its folder; `filePath` is relative to it. */
export type FileChangedEvent = EvTask<"file_changed"> & {
  readonly filePath: string;
  readonly changeType: "CREATED" | "MODIFIED" | "DELETED";
  readonly linesAdded: number;
  readonly linesRemoved: number;
};
/** A task read from memory: a scope of the store, or the team's long-term memory or entities. */
export type MemoryReadEvent = EvTask<"memory_read"> & {
  readonly kind: "scope" | "longTerm" | "entity";
  /** Of `kind` scope. */
  readonly scope?: string;
  readonly entries: number;
  readonly durationMs: number;
};
export type MemoryWrittenEvent = EvTask<"memory_written"> & { readonly scope: string };
/** Somebody is asked; the fields are those of the request, and the answer may come from elsewhere by `reviewId`. */
export type ReviewRequestedEvent = EvTask<"review_requested"> &
  Omit<ReviewRequest, "runId" | "taskId" | "agentRole" | "signal">;
/** The decision, of a person or of the clock. */
export type ReviewResolvedEvent = EvTask<"review_resolved"> & {
  readonly reviewId: string;
  readonly decision: ReviewDecision["type"] | "FAIL";
  readonly timedOut: boolean;
  /** Who decided, where that is known. */
  readonly by?: string;
  readonly comment?: string;
  readonly durationMs: number;
};
export type TaskReflectedEvent = EvTask<"task_reflected"> & {
  readonly taskDescription: string;
  readonly reflection: TaskReflection;
  readonly isFirstReflection: boolean;
};
/** A structured output as far as it has come: what can be read of its JSON so far, unchecked. */
export type PartialOutputEvent = EvTask<"partial_output"> & {
  readonly taskDescription: string;
  readonly partial: unknown;
};
/** A call went beyond the budget of its run, or would have. */
export type BudgetExceededEvent = EvTask<"budget_exceeded"> & {
  /** The option: `maxTokens`, `maxCost` or `maxDurationMs`. */
  readonly limit: string;
  readonly allowed: number;
  readonly used: number;
  readonly action: "stop" | "reject" | "downgrade";
};
export type RetryScheduledEvent = EvTask<"retry_scheduled"> & {
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
};
/** A model call waits for its turn: `waitMs` is how long it will be at least. */
export type RateLimitedEvent = EvTask<"rate_limited"> & {
  readonly waitMs: number;
  readonly requests: number;
  readonly periodMs: number;
};
export type LoopIterationCompletedEvent = EvBase<"loop_iteration_completed"> & {
  readonly loopName: string;
  readonly iterationNumber: number;
  readonly maxIterations: number;
};
export type GraphStateCompletedEvent = EvBase<"graph_state_completed"> & {
  readonly graphName: string;
  readonly stateName: string;
  readonly stepNumber: number;
  readonly nextState: string;
};
export type PhaseStartedEvent = EvBase<"phase_started"> & {
  readonly phaseName: string;
  readonly attempt: number;
};
export type PhaseCompletedEvent = EvBase<"phase_completed"> & {
  readonly phaseName: string;
  readonly attempt: number;
  readonly durationMs: number;
};
/** Something went wrong that does not change the run: a listener that throws, a skipped tap, an option without effect. */
export type RunWarningEvent = EvBase<"run_warning"> & { readonly message: string };

/** Everything that can happen in a run, as one closed union. */
export type EnsembleEvent =
  | EnsembleStartedEvent
  | RunPlannedEvent
  | EnsembleCompletedEvent
  | RunFailedEvent
  | TaskStartedEvent
  | TaskCompletedEvent
  | TaskFailedEvent
  | TaskInputEvent
  | LlmIterationStartedEvent
  | LlmIterationCompletedEvent
  | UsageRecordedEvent
  | TokenEvent
  | ToolStartedEvent
  | ToolCalledEvent
  | DelegationStartedEvent
  | DelegationCompletedEvent
  | DelegationFailedEvent
  | FileChangedEvent
  | MemoryReadEvent
  | ReviewRequestedEvent
  | ReviewResolvedEvent
  | TaskReflectedEvent
  | PartialOutputEvent
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

/** An event before the run stamps `v`, `seq`, `runId` and `at` on it. */
export type NewEvent = EnsembleEvent extends infer E
  ? E extends EnsembleEvent
    ? Omit<E, "v" | "seq" | "runId" | "at">
    : never
  : never;

/** A callback per event; the shortcuts on the ensemble and the methods of a listener have the same names. */
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

/** An observer. What it throws is reported once as `run_warning` and changes nothing. */
export interface EnsembleListener extends EnsembleCallbacks {
  /** Sees every event, also those without a callback of their own. Tokens are streamed for `onToken`, not for this. */
  readonly on?: ((event: EnsembleEvent) => void) | undefined;
}

/** Which event each callback gets. */
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

/** What an observer of a kernel receives. */
export interface ObserveOptions {
  /** The types that are delivered. Events of other types are not built for this observer. Default: all. */
  readonly only?: readonly EventType[] | undefined;
  /**
   * Called before each model call: `true` streams the call, so that its tokens become events. Default: tokens are delivered where something else streams
   * them. The option `streaming` of the ensemble comes first. With `only`, the list must hold `token`.
   */
  readonly tokens?: (() => boolean) | undefined;
}

/**
 * Where observers subscribe; `on` returns the function that ends the subscription. Events hold values as they are: an observer that shows them elsewhere
 * takes out the secrets of their run with the redactor.
 */
export interface EventStream {
  /** @throws ValidationError for options that do not fit together. */
  on(fn: (e: EnsembleEvent, redactor: Redactor) => void, o?: ObserveOptions): () => void;
}
