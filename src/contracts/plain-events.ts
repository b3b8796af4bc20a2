import type { Dag } from "./dag.js";
import type { ChatMessage } from "./chat-model.js";
import type { PartSummary } from "./part-summary.js";
import type { Inputs } from "./types.js";
import type { SavedUsage, UsageRecord } from "./usage.js";

/** Fields of every event. `seq` counts the events of a run without gaps; `at` is an ISO instant. */
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
  /** Counted from 1; 0 for a task added during the run. */
  readonly taskIndex: number;
  readonly totalTasks: number;
  readonly taskDescription: string;
  /**
   * The number of the attempt, from 1. `task_completed` and `task_failed` have the last attempt:
   * guardrails may have repeated the task since its `task_started`.
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
/** The plan of a run, before its first task begins. */
export type RunPlannedEvent = EvBase<"run_planned"> & {
  /** The options `name` and `description` of the ensemble; each is absent where it is not set. */
  readonly ensemble: { readonly name?: string; readonly description?: string };
  /** Inputs of the ensemble and of the run. */
  readonly inputs: Inputs;
  readonly tags: Readonly<Record<string, string>>;
  /**
   * The plan with filled templates. Absent without a binding of `Tokens.PlanDiagram`, and if the
   * plan can't be drawn.
   */
  readonly dag?: Dag;
};
/** A run continues that an earlier execution began. */
export type RunResumedEvent = EvBase<"run_resumed"> & {
  /** The number of the execution; 2 for the first continuation. */
  readonly execution: number;
  /** Tasks whose outputs come from earlier executions. */
  readonly finishedTasks: number;
  /** Model calls, tool calls and other steps whose results come from earlier executions. */
  readonly restoredCalls: number;
  /** The original usage of the restored calls. Absent if the journal does not know it. */
  readonly saved?: SavedUsage;
};
/** A run ends for now and continues in a later execution. */
export type RunSuspendedEvent = EvBase<"run_suspended"> & {
  /** The reason of the wait, for people. */
  readonly waitsFor: string;
};
/** An earlier execution began a tool call and recorded no result. Its effect is unknown. */
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
    /** The tasks whose outputs it receives. */
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
  /** Images and files of the user message, without hashes; absent without any. */
  readonly parts?: readonly PartSummary[];
  /** The user prompt again, under its name in the wire format. */
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
  /** As in `llm_iteration_completed`. */
  readonly iteration: number;
  readonly reasoning: string;
};
/** A piece of the model's reasoning, while the response is streamed. */
export type ReasoningTokenEvent = EvTask<"reasoning_token"> & {
  /** Counts the blocks of reasoning of one response, from 0. */
  readonly index: number;
  readonly token: string;
};
/** A turn of a conversation begins. */
export type TurnStartedEvent = EvTask<"turn_started"> & {
  readonly threadId: string;
  /** The id of the user's message. */
  readonly messageId: string;
};
/** A turn of a conversation is stored. It comes after the tasks of the run, before its end. */
export type TurnStoredEvent = EvTask<"turn_stored"> & {
  readonly threadId: string;
  /** The version of the thread with the turn. */
  readonly version: number;
  readonly status: "completed" | "failed" | "cancelled";
  /** The number of earlier turns that the model saw. */
  readonly turnsInWindow: number;
  /** Whether a new summary was stored too. */
  readonly summarized: boolean;
};
/**
 * An attempt of a model call has ended. The record counts in usage reports and budgets. A run that
 * joined this one emits events of its calls itself.
 */
export type UsageRecordedEvent = EvBase<"usage_recorded"> &
  UsageRecord & {
    /** As in `llm_iteration_completed`; absent for usage of other processes. */
    readonly iteration?: number;
    /** The message of the error. */
    readonly error?: string;
    readonly errorCode?: string;
  };
export type TokenEvent = EvTask<"token"> & {
  readonly token: string;
  readonly taskDescription: string;
};
/** A guardrail refused a task before its start, or its output. */
export type GuardrailRefusedEvent = EvTask<"guardrail_refused"> & {
  /** The name of the guardrail's function; absent if it has none. */
  readonly guardrailName?: string;
  readonly kind: "INPUT" | "OUTPUT";
  readonly message: string;
  readonly attempt: number;
  /** Number of further attempts; 0: the task fails. */
  readonly retriesLeft: number;
};
/** A response did not match the output type. The model is asked for a correction. */
export type OutputCorrectedEvent = EvTask<"output_corrected"> & {
  /** The number of the correction, from 1 to `of`. */
  readonly correction: number;
  readonly of: number;
  /** The mismatches, one error each. */
  readonly errors: readonly string[];
};
/** An agent requested more tool calls than its `maxIterations`. It is asked to answer instead. */
export type IterationLimitReachedEvent = EvTask<"iteration_limit_reached"> & {
  readonly max: number;
  /** The number of the turn beyond the limit, from 1. The third one fails the task. */
  readonly stop: number;
};
/** A tool has changed a file in its folder. `filePath` is relative to the folder. */
export type FileChangedEvent = EvTask<"file_changed"> & {
  readonly filePath: string;
  readonly changeType: "CREATED" | "MODIFIED" | "DELETED";
  readonly linesAdded: number;
  readonly linesRemoved: number;
};
/** A task read from memory: a scope of the store, or the team's long-term memory or entities. */
export type MemoryReadEvent = EvTask<"memory_read"> & {
  readonly kind: "scope" | "longTerm" | "entity";
  /** Only with `kind` scope. */
  readonly scope?: string;
  readonly entries: number;
  readonly durationMs: number;
};
export type MemoryWrittenEvent = EvTask<"memory_written"> & { readonly scope: string };
/** A partial structured output: the readable part of its JSON so far, unchecked. */
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
 * The budget of the run applies from now on. Emitted by the run with the budget, not by runs that
 * join it.
 */
export type BudgetOpenedEvent = EvBase<"budget_opened"> & {
  readonly limits: BudgetLimits;
  /** Above 0 if earlier executions of the run count. */
  readonly used: Spent & { readonly durationMs: number };
  /** The reaction to a call that would exceed the budget. */
  readonly action: BudgetExceededEvent["action"];
};
/**
 * The rest of the run's budget of tokens or cost has changed. Emitted up to four times a second;
 * always for the last state.
 */
export type BudgetChangedEvent = EvBase<"budget_changed"> & {
  readonly limits: BudgetLimits;
  readonly used: Spent & { readonly durationMs: number };
  /** Reserved for calls in progress and for work elsewhere. */
  readonly reserved: Spent;
};
/** A call exceeded the budget of its run, or would have. */
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
/** A model call waits for a rate limit. `waitMs` is the minimum wait. */
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
 * A problem without effect on the run: a listener that throws, a skipped tap, an option without
 * effect.
 */
export type RunWarningEvent = EvBase<"run_warning"> & { readonly message: string };
