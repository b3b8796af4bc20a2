/** A tool call of a trial. */
export interface WayToolCall {
  readonly name: string;
  /** The arguments as a value, or as text if they are no JSON. */
  readonly arguments: unknown;
  readonly result: string;
  /** `SUCCESS`, or the kind of the failure. */
  readonly outcome: string;
  readonly taskId: string;
}

/** A delegation of a trial. */
export interface WayDelegation {
  readonly from: string;
  readonly to: string;
  readonly task: string;
  readonly succeeded: boolean;
}

/** A message of the conversation of a trial. */
export interface WayMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: string }[] | undefined;
  readonly toolName?: string | undefined;
}

/** Model calls, and their usage. */
export interface EvaluationSpending {
  /** Number of model calls, without those answered by a recording or a journal. */
  readonly calls: number;
  /** Number of calls answered by a recording, a cache or a journal. */
  readonly answered: number;
  /** As far as they are known. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** By the prices of the target; absent without prices. Recorded calls count in `recordedCost`. */
  readonly cost?: number | undefined;
  readonly recordedCost?: number | undefined;
}

/** The steps of the target in a trial, in the order of the tasks. */
export interface TrialWay {
  /** The runs of the trial: one, or one per turn of a conversation. */
  readonly runIds: readonly string[];
  readonly toolCalls: readonly WayToolCall[];
  readonly delegations: readonly WayDelegation[];
  /** Delegations that were refused, by a constraint or a policy. */
  readonly refusedDelegations: number;
  /** Of the last model call of each task. */
  readonly conversations: readonly {
    readonly task: string;
    readonly messages: readonly WayMessage[];
  }[];
  readonly spending: EvaluationSpending;
  /** Milliseconds. */
  readonly durationMs: number;
}
