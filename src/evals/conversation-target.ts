import type { TurnResult } from "../contracts/conversation.js";
import type { RunOptions } from "../contracts/run.js";

/** A conversation, by the methods that an evaluation needs. */
export interface ConversationTarget {
  thread(id: string): ConversationTargetThread;
}

/** A thread of such a conversation. */
export interface ConversationTargetThread {
  send(input: string, options?: RunOptions): Promise<TurnResult>;
  delete(): Promise<boolean>;
}

/**
 * A user whose messages a model writes, by the `model` of the evaluation. The conversation ends
 * when the user has what they want, or after `maxTurns`.
 */
export interface SimulatedUser {
  /** What the user wants. */
  readonly goal: string;
  /** How the user writes, what they know. Default: a brief, polite person. */
  readonly persona?: string | undefined;
  /** The first message. Default: written by the model. */
  readonly opening?: string | undefined;
  /** 1 to 50. Default 6. */
  readonly maxTurns?: number | undefined;
}

/** What a conversation is sent: a message, messages one after the other, or those of a simulated user. The output is the last answer. */
export type ConversationInput = string | readonly string[] | SimulatedUser;
