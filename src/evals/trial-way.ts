/** A tool call of a trial. */
export interface WayToolCall {
  readonly name: string;
  /** The arguments as a value; the text where they are no JSON. */
  readonly arguments: unknown;
  readonly result: string;
  /** `SUCCESS`, or how the call failed. */
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

/** Model calls, and what they used. */
export interface EvaluationSpending {
  /** Model calls, without those that a recording or a journal answered. */
  readonly calls: number;
  /** Calls that a recording, a cache or a journal answered. */
  readonly answered: number;
  /** As far as they are known. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** By the prices of the target; missing without prices. Recorded calls count in `recordedCost`. */
  readonly cost?: number | undefined;
  readonly recordedCost?: number | undefined;
}

/** What the target did in a trial, in the order of the tasks. */
export interface TrialWay {
  /** The runs of the trial: one, of conversations one for each turn. */
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
