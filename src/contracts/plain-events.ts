import type { Dag } from "./dag.js";
import type { ChatMessage } from "./chat-model.js";
import type { Inputs } from "./types.js";
import type { SavedUsage, UsageRecord } from "./usage.js";

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

export interface TaskPlace {
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
/** A run goes on that an earlier execution began. */
export type RunResumedEvent = EvBase<"run_resumed"> & {
  /** Counts the executions of the run; 2 for the first time that it goes on. */
  readonly execution: number;
  /** Tasks whose outputs earlier executions brought. */
  readonly finishedTasks: number;
  /** Model calls, tool calls and other steps whose results earlier executions brought. */
  readonly restoredCalls: number;
  /** What the restored calls used when they were made. Absent where the journal does not know it. */
  readonly saved?: SavedUsage;
};
/** A run ends for now and goes on in a later execution. */
export type RunSuspendedEvent = EvBase<"run_suspended"> & {
  /** For people: what the run waits for. */
  readonly waitsFor: string;
};
/** A tool call was begun by an earlier execution and has no result: whether it took effect is unknown. */
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
    /** The tasks whose outputs it gets. */
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
/** An answer came with what the model thought before it. */
export type ReasoningReceivedEvent = EvTask<"reasoning_received"> & {
  /** As in `llm_iteration_completed`. */
  readonly iteration: number;
  readonly reasoning: string;
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
/** A guardrail refused a task before it was done, or its output. */
export type GuardrailRefusedEvent = EvTask<"guardrail_refused"> & {
  /** The name of its function; absent where it has none. */
  readonly guardrailName?: string;
  readonly kind: "INPUT" | "OUTPUT";
  readonly message: string;
  readonly attempt: number;
  /** How often the task is done again; 0: the task fails. */
  readonly retriesLeft: number;
};
/** An answer did not fit the output type, and the model is asked for a corrected one. */
export type OutputCorrectedEvent = EvTask<"output_corrected"> & {
  /** Counts the corrections of the task from 1, up to `of`. */
  readonly correction: number;
  readonly of: number;
  /** What does not fit, one problem each. */
  readonly errors: readonly string[];
};
/** An agent asked for more tool calls than its `maxIterations`, and is told to answer instead. */
export type IterationLimitReachedEvent = EvTask<"iteration_limit_reached"> & {
  readonly max: number;
  /** Counts the turns beyond the limit from 1; the third one fails the task. */
  readonly stop: number;
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
/** A structured output as far as it has come: what can be read of its JSON so far, unchecked. */
export type PartialOutputEvent = EvTask<"partial_output"> & {
  readonly taskDescription: string;
  readonly partial: unknown;
};
/** What is limited of a budget, by the options of `budget`. */
interface BudgetLimits {
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly maxDurationMs?: number;
}
/** `cost` is there where the budget limits it. */
interface Spent {
  readonly tokens: number;
  readonly cost?: number;
}
/** The budget of the run holds from now on. The run that has it emits this, not those that join it. */
export type BudgetOpenedEvent = EvBase<"budget_opened"> & {
  readonly limits: BudgetLimits;
  /** More than 0 where earlier executions of the run count in it. */
  readonly used: Spent & { readonly durationMs: number };
  /** What happens to a call that would exceed it. */
  readonly action: BudgetExceededEvent["action"];
};
/** What the budget of the run, of tokens or cost, has left is another than before; at most four times a second, the last state always. */
export type BudgetChangedEvent = EvBase<"budget_changed"> & {
  readonly limits: BudgetLimits;
  readonly used: Spent & { readonly durationMs: number };
  /** Set aside for calls in flight and for work elsewhere. */
  readonly reserved: Spent;
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
