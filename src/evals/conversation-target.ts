import type { TurnResult } from "../contracts/conversation.js";
import type { RunOptions } from "../contracts/run.js";

/** The methods of a conversation that an evaluation uses. */
export interface ConversationTarget {
  thread(id: string): ConversationTargetThread;
}

/** A thread of such a conversation. */
export interface ConversationTargetThread {
  send(input: string, options?: RunOptions): Promise<TurnResult>;
  delete(): Promise<boolean>;
}

/**
 * A simulated user. The `model` of the evaluation writes its messages. The conversation ends when
 * the user's goal is reached, or after `maxTurns`.
 */
export interface SimulatedUser {
  /** The goal of the user. */
  readonly goal: string;
  /** The style and the knowledge of the user. Default: a brief, polite person. */
  readonly persona?: string | undefined;
  /** The first message. Default: written by the model. */
  readonly opening?: string | undefined;
  /** Limit of the messages of the user, from 1 to 50. Default 6. */
  readonly maxTurns?: number | undefined;
}

/**
 * The user's messages in a conversation: one message, several in sequence, or the messages of a
 * simulated user. The output is the last answer.
 */
export type ConversationInput = string | readonly string[] | SimulatedUser;
