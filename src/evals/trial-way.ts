/** A tool call of a trial. */
export interface WayToolCall {
  readonly name: string;
  /** The arguments as a value, or as a text if they are not JSON. */
  readonly arguments: unknown;
  readonly result: string;
  /** `SUCCESS`, or the kind of failure. */
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

/** Number and usage of model calls. */
export interface EvaluationSpending {
  /** Number of model calls, except calls answered by a recording, a cache or a journal. */
  readonly calls: number;
  /** Number of calls answered by a recording, a cache or a journal. */
  readonly answered: number;
  /** Number of tokens of the calls that reported them. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /**
   * The cost by the prices of the target. Absent without prices. The cost of recorded calls is
   * counted in `recordedCost`.
   */
  readonly cost?: number | undefined;
  readonly recordedCost?: number | undefined;
}

/** The steps by which the target produced its output in a trial, in the order of the tasks. */
export interface TrialWay {
  /** The ids of the runs of the trial. A conversation has one run per turn. */
  readonly runIds: readonly string[];
  readonly toolCalls: readonly WayToolCall[];
  readonly delegations: readonly WayDelegation[];
  /** Number of delegations that a constraint or a policy refused. */
  readonly refusedDelegations: number;
  /** The conversation of the last model call of each task. */
  readonly conversations: readonly {
    readonly task: string;
    readonly messages: readonly WayMessage[];
  }[];
  readonly spending: EvaluationSpending;
  /** Duration in milliseconds. */
  readonly durationMs: number;
}
