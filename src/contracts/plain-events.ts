import type { Dag } from "./dag.js";
import type { ChatMessage } from "./chat-model.js";
import type { PartSummary } from "./part-summary.js";
import type { Inputs } from "./types.js";
import type { SavedUsage, UsageRecord } from "./usage.js";

/** Fields of every event. `seq` counts the events of a run without gaps. `at` is an ISO instant. */
export interface EvBase<T extends string> {
  readonly type: T;
  readonly v: 1;
  readonly seq: number;
  readonly runId: string;
  readonly at: string;
}

/** Fields of every event of a task. */
export interface EvTask<T extends string> extends EvBase<T> {
  readonly taskId: string;
  readonly parentTaskId?: string;
  readonly agentRole: string;
}

export interface TaskPlace {
  /** The position of the task, from 1. 0 for a task added during the run. */
  readonly taskIndex: number;
  readonly totalTasks: number;
  readonly taskDescription: string;
  /**
   * The number of the attempt, from 1. `task_completed` and `task_failed` have the number of the
   * last attempt. Guardrails may have repeated the task after its `task_started`.
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
/** The plan of a run, emitted before the first task begins. */
export type RunPlannedEvent = EvBase<"run_planned"> & {
  /** The options `name` and `description` of the ensemble. Each is absent if not set. */
  readonly ensemble: { readonly name?: string; readonly description?: string };
  /** The inputs of the ensemble, merged with the inputs of the run. */
  readonly inputs: Inputs;
  readonly tags: Readonly<Record<string, string>>;
  /**
   * The plan with filled templates. Absent if `Tokens.PlanDiagram` is unbound, or if the plan can't
   * be drawn.
   */
  readonly dag?: Dag;
};
/** A run continues work that an earlier execution began. */
export type RunResumedEvent = EvBase<"run_resumed"> & {
  /** The number of the execution. 2 for the first continuation. */
  readonly execution: number;
  /** Tasks whose outputs come from earlier executions. */
  readonly finishedTasks: number;
  /** Model calls, tool calls and other steps whose results come from earlier executions. */
  readonly restoredCalls: number;
  /** The original usage of the restored calls. Absent if the journal does not contain it. */
  readonly saved?: SavedUsage;
};
/** An execution of a run ends. The run continues in a later execution. */
export type RunSuspendedEvent = EvBase<"run_suspended"> & {
  /** The reason for the wait, as text for people. */
  readonly waitsFor: string;
};
/**
 * An earlier execution began a tool call and recorded no result. The effect of the call is unknown.
 */
export type CallInDoubtEvent = EvTask<"call_in_doubt"> & {
  /** The idempotency key of the call. */
  readonly key: string;
  readonly toolName: string;
};
export type RunFailedEvent = EvBase<"run_failed"> & {
  readonly code: string;
  readonly message: string;
};
export type TaskStartedEvent = EvTask<"task_started"> &
  TaskPlace & {
    readonly startedAt: string;
    /** Ids of the tasks whose outputs this task receives. */
    readonly contextTaskIds: readonly string[];
    /** Whether its agent or the ensemble is verbose. */ readonly verbose: boolean;
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
  /** Images and files of the user message, without hashes. Absent if there are none. */
  readonly parts?: readonly PartSummary[];
  /** Equals `userPrompt`, under the name of the wire format. */
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
/** A response contained the model's reasoning. */
export type ReasoningReceivedEvent = EvTask<"reasoning_received"> & {
  /** The number of the model call, as in `llm_iteration_completed`. */
  readonly iteration: number;
  readonly reasoning: string;
};
/** A piece of the model's reasoning, while the response is streamed. */
export type ReasoningTokenEvent = EvTask<"reasoning_token"> & {
  /** The number of the block of reasoning within one response, from 0. */
  readonly index: number;
  readonly token: string;
};
/** A turn of a conversation begins. */
export type TurnStartedEvent = EvTask<"turn_started"> & {
  readonly threadId: string;
  /** The id of the user's message. */
  readonly messageId: string;
};
/** A turn of a conversation was stored. Emitted after the tasks of the run and before its end. */
export type TurnStoredEvent = EvTask<"turn_stored"> & {
  readonly threadId: string;
  /** The version of the thread that includes the turn. */
  readonly version: number;
  readonly status: "completed" | "failed" | "cancelled";
  /** The number of earlier turns that the model received. */
  readonly turnsInWindow: number;
  /** Whether a new summary was stored with the turn. */
  readonly summarized: boolean;
};
/**
 * An attempt of a model call has ended. Usage reports and budgets count the record. A run that
 * joined this run emits the events of its own calls.
 */
export type UsageRecordedEvent = EvBase<"usage_recorded"> &
  UsageRecord & {
    /**
     * The number of the model call, as in `llm_iteration_completed`. Absent for usage of other
     * processes.
     */
    readonly iteration?: number;
    /** The message of the error of a failed attempt. */
    readonly error?: string;
    readonly errorCode?: string;
  };
export type TokenEvent = EvTask<"token"> & {
  readonly token: string;
  readonly taskDescription: string;
};
/** A guardrail refused a task before its start, or its output. */
export type GuardrailRefusedEvent = EvTask<"guardrail_refused"> & {
  /**
   * The name passed to `namedGuardrail`, else the name of the function. Absent if the function has
   * no name.
   */
  readonly guardrailName?: string;
  readonly kind: "INPUT" | "OUTPUT";
  readonly message: string;
  readonly attempt: number;
  /** Number of attempts left. 0: the task fails. */
  readonly retriesLeft: number;
};
/** A response did not match the output type. The model receives a request for a correction. */
export type OutputCorrectedEvent = EvTask<"output_corrected"> & {
  /** The number of the correction, from 1 to `of`. */
  readonly correction: number;
  readonly of: number;
  /** The mismatches, one error each. */
  readonly errors: readonly string[];
};
/**
 * An agent requested more tool calls than its `maxIterations`. The model receives a request to
 * answer instead.
 */
export type IterationLimitReachedEvent = EvTask<"iteration_limit_reached"> & {
  readonly max: number;
  /** The number of consecutive turns beyond the limit, from 1. At 3, the task fails. */
  readonly stop: number;
};
/** A tool has changed a file in its folder. `filePath` is relative to this folder. */
export type FileChangedEvent = EvTask<"file_changed"> & {
  readonly filePath: string;
  readonly changeType: "CREATED" | "MODIFIED" | "DELETED";
  readonly linesAdded: number;
  readonly linesRemoved: number;
};
/** A task read from memory: a scope of the store, or the team's long-term memory or entities. */
export type MemoryReadEvent = EvTask<"memory_read"> & {
  readonly kind: "scope" | "longTerm" | "entity";
  /** The name of the scope. Present only with `kind` scope. */
  readonly scope?: string;
  readonly entries: number;
  readonly durationMs: number;
};
export type MemoryWrittenEvent = EvTask<"memory_written"> & { readonly scope: string };
/**
 * A partial structured output: the values that can be read from the JSON so far, without
 * validation.
 */
export type PartialOutputEvent = EvTask<"partial_output"> & {
  readonly taskDescription: string;
  readonly partial: unknown;
};
/** The limits of a budget, from the options of `budget`. */
interface BudgetLimits {
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly maxDurationMs?: number;
}
/** `cost` is present if the budget limits it. */
interface Spent {
  readonly tokens: number;
  readonly cost?: number;
}
/**
 * A budget of the run takes effect. Emitted by the run that has the budget, not by runs that join
 * it.
 */
export type BudgetOpenedEvent = EvBase<"budget_opened"> & {
  readonly limits: BudgetLimits;
  /** The used amounts. Above 0 if usage of earlier executions counts. */
  readonly used: Spent & { readonly durationMs: number };
  /** The reaction to a call that would exceed the budget. */
  readonly action: BudgetExceededEvent["action"];
};
/**
 * The remaining tokens or the remaining cost of the run's budget have changed. Emitted at most four
 * times per second. The last state is always emitted.
 */
export type BudgetChangedEvent = EvBase<"budget_changed"> & {
  readonly limits: BudgetLimits;
  readonly used: Spent & { readonly durationMs: number };
  /** The amounts reserved for calls in progress and for grants. */
  readonly reserved: Spent;
};
/**
 * A call exceeded the budget of its run, or was refused because it would have exceeded the budget.
 */
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
/** A model call waits because of a rate limit. `waitMs` is the minimum wait in milliseconds. */
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
/**
 * A problem that does not stop the run, for example a listener that throws or an option without
 * effect.
 */
export type RunWarningEvent = EvBase<"run_warning"> & { readonly message: string };
