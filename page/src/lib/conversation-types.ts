import type { PromptSection } from "./prompt-sections.js";

interface TurnBase {
  /** The number of the first entry of the turn. */
  readonly n: number;
  /** An ISO instant. */
  readonly at: string;
}

/** The prompt of an attempt. */
export interface PromptTurn extends TurnBase {
  readonly kind: "prompt";
  readonly system: string;
  readonly sections: readonly PromptSection[];
  readonly tools: readonly string[];
  /** The complete user prompt. */
  readonly text: string;
}

/** An answer of the model, or a failed call. Tokens are -1 if the model did not report them. */
export interface ModelTurn extends TurnBase {
  readonly kind: "model";
  /** Counts the calls of the task from 1. */
  readonly call: number;
  /** `provider:model`. Empty if unknown. */
  readonly model: string;
  /** The text of the answer. Empty if the model only called tools. */
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: number;
  readonly durationMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly cost: number | undefined;
  readonly currency: string | undefined;
  /** The purpose of the call, if it was not the task itself: `judge`, `summary`. */
  readonly purpose: string;
  /** The error of a failed call. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** Whether the answer came from a recording and caused no cost. */
  readonly isRecorded: boolean;
  /** Whether the text equals the previous answer. */
  readonly isRepeated: boolean;
}

export interface ToolTurn extends TurnBase {
  readonly kind: "tool";
  readonly callId: string;
  readonly name: string;
  readonly title: string | undefined;
  readonly args: string;
  /** The result. `undefined` while the call is in progress. */
  readonly result: string | undefined;
  /** One of the outcomes of tool calls. `undefined` while the call is in progress. */
  readonly outcome: string | undefined;
  readonly durationMs: number | undefined;
}

export interface DelegationTurn extends TurnBase {
  readonly kind: "delegation";
  /** Whether the other agent takes over the task. */
  readonly isHandoff: boolean;
  readonly role: string;
  readonly text: string;
  /** The id of the other agent's task, if any. */
  readonly workerTaskId: string | undefined;
  readonly state: "running" | "done" | "failed";
  readonly result: string;
  readonly durationMs: number | undefined;
}

export interface ReviewTurn extends TurnBase {
  readonly kind: "review";
  readonly reviewId: string;
  readonly question: string;
  readonly toolName: string | undefined;
  readonly requiredRole: string | undefined;
  readonly deadline: string | undefined;
  /** The decision. `undefined` while the review waits. */
  readonly decision: string | undefined;
  readonly by: string | undefined;
  readonly comment: string | undefined;
  readonly isTimedOut: boolean;
  readonly durationMs: number | undefined;
}

/** An event of the task, as a line with an optional text. */
export interface NoteTurn extends TurnBase {
  readonly kind: "note";
  readonly look: "info" | "waiting" | "failed" | "done";
  readonly title: string;
  /** The end of the line. */
  readonly end: string;
  readonly text: string;
}

export type Turn = PromptTurn | ModelTurn | ToolTurn | DelegationTurn | ReviewTurn | NoteTurn;

/** The prompts and answers of a task, in order. */
export interface Conversation {
  readonly turns: readonly Turn[];
  /** The accepted output. `undefined` before the acceptance. */
  readonly output: { readonly text: string; readonly value: unknown } | undefined;
  /** Whether texts were removed, because the log is long. */
  readonly isTrimmed: boolean;
}
