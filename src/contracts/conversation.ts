import type { ChatMessage, FinishReason, ModelRef } from "./chat-model.js";
import type { AgentEnsembleError } from "./errors.js";
import type { EnsembleOutput } from "./output.js";
import type { RunInfo } from "./run-info.js";
import type { Source } from "./tool-result.js";
import type { Awaitable } from "./types.js";

/** The fields of a tool call that a page shows in place of the fields in the message. */
export interface ToolCallView {
  /** Whether pages must not show the input and the output. */
  readonly private: boolean;
  /** The title of the tool. */
  readonly title?: string | undefined;
  /** The input without secrets. Present only if the input contained secrets. */
  readonly input?: unknown;
  /**
   * The structured result. If the text contained secrets or is marked as data, the text without
   * secrets and marks. Absent: pages show the text of the message.
   */
  readonly output?: unknown;
  /** Present if a page executed the call. */
  readonly client?: true | undefined;
  /** Present if a person refused the call. */
  readonly denied?: true | undefined;
  readonly sources?: readonly Source[] | undefined;
}

/** A message of a thread, as models receive it, with its origin. */
export type ThreadMessage = {
  /** Unique within the thread. */
  readonly id: string;
  /** The id of the run that added the message. */
  readonly turnId: string;
  /** The start of the turn: ISO 8601, UTC. */
  readonly at: string;
  /**
   * The role of the agent that wrote the message or called the tool. Absent for messages of the
   * user.
   */
  readonly agentRole?: string | undefined;
  /**
   * Present for the result of a tool call in a streamed turn. Without `view`, pages show neither
   * the input nor the output.
   */
  readonly view?: ToolCallView | undefined;
} & Exclude<ChatMessage, { readonly role: "system" }>;

/**
 * The end of a turn. A turn that did not complete is stored only if the conversation keeps such
 * turns.
 */
export type TurnStatus = "completed" | "failed" | "cancelled";

/** A turn as stored: JSON data. */
export interface StoredTurn {
  /** The version of the format. */
  readonly v: 1;
  /** The position in the thread, counted from 0. */
  readonly n: number;
  /** The id of the run of this turn. */
  readonly turnId: string;
  /** The start of the turn: ISO 8601, UTC. */
  readonly at: string;
  readonly status: TurnStatus;
  readonly agentRole: string;
  /** The agent of the next turn, if another agent was passed for this turn only. */
  readonly nextAgentRole?: string | undefined;
  /** The user's message, then the messages that the turn added. */
  readonly messages: readonly ThreadMessage[];
  /** Tokens of all calls of the turn. Absent if the vendor reports none. */
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** In the currency of the configured prices. */
  readonly cost?: number | undefined;
  /**
   * The source of external text that the run of the turn had read, also in earlier turns. Later
   * turns that read this turn count as having read the text.
   */
  readonly untrusted?: string | undefined;
}

/** A summary of the turns `0` to `upTo`. The store keeps these turns. */
export interface ThreadSummary {
  readonly upTo: number;
  readonly text: string;
  /** The time of the summary: ISO 8601, UTC. */
  readonly at: string;
  /** The source of external text that one of the turns had read. */
  readonly untrusted?: string | undefined;
}

/** The data of a thread without its turns. */
export interface ThreadHead {
  readonly id: string;
  readonly owner?: string | undefined;
  /** The number of changes. The first change creates version 1. */
  readonly version: number;
  /** The number of turns. */
  readonly turns: number;
  /**
   * The agent that answers next: the agent of the last turn, unless the last change names another
   * agent.
   */
  readonly agentRole?: string | undefined;
  readonly summary?: ThreadSummary | undefined;
  readonly title?: string | undefined;
  /** The time of the first change: ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * One atomic change of a thread. Removes all turns from number `keep` on, then adds `turns` with
 * the next numbers. Absent fields remain unchanged. A summary that covers a removed turn is also
 * removed.
 */
export interface ThreadChange {
  /** The version on which the change is based. 0 for a new thread. */
  readonly expectedVersion: number;
  readonly keep?: number | undefined;
  readonly turns?: readonly StoredTurn[] | undefined;
  readonly summary?: ThreadSummary | undefined;
  /** The owner of the thread. Allowed only with `expectedVersion` 0. */
  readonly owner?: string | undefined;
  readonly title?: string | undefined;
  readonly agentRole?: string | undefined;
}

/**
 * A page of a list of threads. `next` is the `after` of the following page. Absent on the last
 * page.
 */
export interface ThreadPage {
  readonly threads: readonly ThreadHead[];
  readonly next?: string | undefined;
}

/** A filter of a list of threads. */
export interface ThreadQuery {
  /** Only threads of this owner. Default: all threads. */
  readonly owner?: string | undefined;
  /** Threads per page, from 1 to 100. Default 100. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. Default: the first page. */
  readonly after?: string | undefined;
}

/** The range of turns to read. */
export interface TurnQuery {
  /** Limit of the number of turns, at least 1. */
  readonly limit: number;
  /** Reads only turns with a smaller number. Default: reads up to the last turn. */
  readonly before?: number | undefined;
}

/** Options of waiting for the lock of a thread. */
export interface ThreadLockOptions {
  /** Limit of the wait in milliseconds. 0: no wait. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The lock of a thread, held by the caller. */
export interface ThreadLock {
  release(): Promise<void>;
}

/**
 * Stores threads. Bound to `Tokens.ConversationStore`, or passed to a conversation. Check an
 * implementation with `conversationStoreContract` from `agentensemble/testing`.
 */
export interface ConversationStore {
  /** Returns `undefined` for an unknown or deleted thread. */
  open(threadId: string): Promise<ThreadHead | undefined>;
  /**
   * Returns the last turns of a thread, oldest first. The cost must depend on `limit` only, not on
   * the length of the thread.
   */
  read(threadId: string, query: TurnQuery): Promise<readonly StoredTurn[]>;
  /**
   * Changes a thread in one step.
   * @throws ConversationConflictError if the version of the thread is not `expectedVersion`.
   * Nothing is stored then.
   */
  append(threadId: string, change: ThreadChange): Promise<ThreadHead>;
  /** Lists threads, the last changed first. */
  list(query?: ThreadQuery): Promise<ThreadPage>;
  /** Deletes a thread. Returns whether the thread existed. */
  delete(threadId: string): Promise<boolean>;
  /**
   * Waits until earlier turns of the thread have ended, then locks the thread. Callers receive the
   * lock in the order of their calls. `release` and the end of the process free the lock. Without
   * this method, the second of two concurrent turns is refused.
   * @throws ThreadBusyError after `timeoutMs`; the reason of `signal`.
   */
  lock?(threadId: string, options: ThreadLockOptions): Promise<ThreadLock>;
  close?(): Promise<void>;
}

/** The input of a window policy. */
export interface WindowInput {
  readonly head: ThreadHead;
  /** Reads turns from the store, as `ConversationStore.read` does. */
  read(query: TurnQuery): Promise<readonly StoredTurn[]>;
  /** Counts tokens with `Tokens.TokenCounter`. Counts files by type and size. */
  countTokens(messages: readonly ChatMessage[]): Awaitable<number>;
  /**
   * Calls a model with the purpose `summary` within the run of the turn, and returns the summary.
   */
  summarize(options: SummaryRequest): Promise<string>;
  readonly run: RunInfo;
  readonly signal: AbortSignal;
  /** Emits a `run_warning`. */
  warn(message: string): void;
}

/** A request for a summary. */
export interface SummaryRequest {
  readonly turns: readonly StoredTurn[];
  /** The summary of earlier turns. The new summary replaces it. */
  readonly previous?: string | undefined;
  /** The model that summarizes. Default: the model of the turn. */
  readonly model?: ModelRef | undefined;
  /** Limit of words of the summary. Default 200. */
  readonly maxWords?: number | undefined;
}

/**
 * The turns that a model receives, and the summary of earlier turns. A new summary is stored in the
 * thread.
 */
export interface WindowOutput {
  readonly turns: readonly StoredTurn[];
  readonly summary?: ThreadSummary | undefined;
}

/**
 * Selects the part of a thread that a model receives, in whole turns. Bound to
 * `Tokens.WindowPolicy`, or passed to a conversation.
 */
export interface WindowPolicy {
  readonly name: string;
  select(input: WindowInput): Awaitable<WindowOutput>;
}

/** The result of a turn. */
export interface TurnResult {
  readonly threadId: string;
  readonly turnId: string;
  readonly status: TurnStatus;
  /** The text of the answer. Empty if the turn has no answer. */
  readonly text: string;
  readonly agentRole: string;
  readonly finishReason: FinishReason;
  /** The messages that the turn added, beginning with the user's message. */
  readonly messages: readonly ThreadMessage[];
  readonly output: EnsembleOutput;
  /** The error of a failed turn. Present only with `throwOnError: false`. */
  readonly error?: AgentEnsembleError | undefined;
}
