import type { ChatMessage, FinishReason } from "../../../contracts/chat-model.js";
import type { ContentPart } from "../../../contracts/content.js";
import type { StoredTurn, SummaryRequest } from "../../../contracts/conversation.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTask } from "../../../contracts/task.js";
import { createToken } from "../../../contracts/token.js";

/** The part of a thread that a model sees. */
export interface SeenThread {
  /** Oldest first. */
  readonly turns: readonly StoredTurn[];
  /** A summary of the turns before. */
  readonly summary?: string | undefined;
}

/** What a window needs of the task that reads it. */
export interface WindowReader {
  readonly scope: TaskScope;
  summarize(request: SummaryRequest): Promise<string>;
}

/** A turn of a conversation, as its task needs it. */
export interface ChatTurn {
  /** The user's message, sent unchanged. */
  readonly content: string | readonly ContentPart[];
  /** Reads the thread. */
  see(reader: WindowReader): Promise<SeenThread>;
  /** What has been added so far. */
  readonly progress: ChatProgress;
}

/** What a turn has added to its thread so far. */
export interface ChatProgress {
  /** Returns the messages after the user's, in order. Calls of the last answer may have no result yet. */
  added: () => readonly ChatMessage[];
  /** Of the last answer without tool calls. */
  finishReason: FinishReason;
}

/** The turns whose tasks are in progress. */
export class ChatTurns {
  readonly #turns = new WeakMap<AnyTask, ChatTurn>();

  /** Makes `task` the task of a turn. */
  add(task: AnyTask, turn: ChatTurn): void {
    this.#turns.set(task, turn);
  }

  of(task: AnyTask): ChatTurn | undefined {
    return this.#turns.get(task);
  }
}

/** Where conversations announce their turns. */
export const ChatTurnsToken = createToken<ChatTurns>("agents-chat/turns");
