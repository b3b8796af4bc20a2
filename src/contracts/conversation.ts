import type { ChatMessage, FinishReason, ModelRef } from "./chat-model.js";
import type { AgentEnsembleError } from "./errors.js";
import type { EnsembleOutput } from "./output.js";
import type { RunInfo } from "./run-info.js";
import type { Source } from "./tool-result.js";
import type { Awaitable } from "./types.js";

/** The parts of a tool call that a page shows. */
export interface ToolCallView {
  /** Input and output are not for pages. */
  readonly private: boolean;
  /** The title of the tool. */
  readonly title?: string | undefined;
  /** The input without secrets. Present if it contained secrets. */
  readonly input?: unknown;
  /** The structured result; or the text, without secrets, if it contained secrets or is marked as data in the message. Absent: the text of the message. */
  readonly output?: unknown;
  /** A page executed the call. */
  readonly client?: true | undefined;
  /** A person refused the call. */
  readonly denied?: true | undefined;
  readonly sources?: readonly Source[] | undefined;
}

/** A message of a thread: what a model receives, with its origin. */
export type ThreadMessage = {
  /** Unique within the thread. */
  readonly id: string;
  /** The id of the run that added it. */
  readonly turnId: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The agent that wrote it, or whose tool answered. Absent for messages of the user. */
  readonly agentRole?: string | undefined;
  /** Of a tool's result, where the turn was streamed. Pages show no input and output without it. */
  readonly view?: ToolCallView | undefined;
} & Exclude<ChatMessage, { readonly role: "system" }>;

/** The end of a turn. Only turns that are kept after a failure are not `completed`. */
export type TurnStatus = "completed" | "failed" | "cancelled";

/** A turn as it is stored: JSON. */
export interface StoredTurn {
  /** The version of the format. */
  readonly v: 1;
  /** The position in the thread, counted from 0. */
  readonly n: number;
  /** The id of the run. */
  readonly turnId: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly status: TurnStatus;
  readonly agentRole: string;
  /** The user's message, then what the turn added. */
  readonly messages: readonly ThreadMessage[];
  /** Tokens of all calls of the turn, where the vendor reports them. */
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** In the currency of the configured prices. */
  readonly cost?: number | undefined;
}

/** A summary of the turns `0` to `upTo`. The turns stay. */
export interface ThreadSummary {
  readonly upTo: number;
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** The data of a thread without its turns. */
export interface ThreadHead {
  readonly id: string;
  readonly owner?: string | undefined;
  /** 1 after the first change; each change adds 1. */
  readonly version: number;
  /** The number of turns. */
  readonly turns: number;
  /** The agent whose turn it is: that of the last turn, unless the last change named another. */
  readonly agentRole?: string | undefined;
  readonly summary?: ThreadSummary | undefined;
  readonly title?: string | undefined;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * One atomic change: removes the turns from number `keep` on, then adds `turns`, whose numbers
 * follow. Fields that are absent stay as they are. A summary of removed turns is removed too.
 */
export interface ThreadChange {
  /** The version that the change is based on; 0 for a new thread. */
  readonly expectedVersion: number;
  readonly keep?: number | undefined;
  readonly turns?: readonly StoredTurn[] | undefined;
  readonly summary?: ThreadSummary | undefined;
  /** Only with version 0. */
  readonly owner?: string | undefined;
  readonly title?: string | undefined;
  readonly agentRole?: string | undefined;
}

/** A part of a list of threads. `next` is the `after` of the following part; absent at the end. */
export interface ThreadPage {
  readonly threads: readonly ThreadHead[];
  readonly next?: string | undefined;
}

/** Which threads to list. */
export interface ThreadQuery {
  /** Only threads of this owner. Default: all threads. */
  readonly owner?: string | undefined;
  /** 1 to 100. Default 100. */
  readonly limit?: number | undefined;
  /** `next` of the part before. */
  readonly after?: string | undefined;
}

/** Which turns to read. */
export interface TurnQuery {
  /** At most this many turns, at least 1. */
  readonly limit: number;
  /** Only turns with a smaller number. Default: up to the end. */
  readonly before?: number | undefined;
}

/** How to wait for the lock of a thread. */
export interface ThreadLockOptions {
  /** 0: does not wait. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A lock that is held. */
export interface ThreadLock {
  release(): Promise<void>;
}

/**
 * Keeps threads. Bound to `Tokens.ConversationStore`, or given to a conversation. Check it with
 * `conversationStoreContract` from `agentensemble/testing`.
 */
export interface ConversationStore {
  /** Returns `undefined` for an unknown or deleted thread. */
  open(threadId: string): Promise<ThreadHead | undefined>;
  /** Returns the last turns of a thread, oldest first. Its cost grows with `limit` only. */
  read(threadId: string, query: TurnQuery): Promise<readonly StoredTurn[]>;
  /**
   * Changes a thread, whole or not at all. @throws ConversationConflictError if the version is
   * another one.
   */
  append(threadId: string, change: ThreadChange): Promise<ThreadHead>;
  /** Lists threads, the last changed first. */
  list(query?: ThreadQuery): Promise<ThreadPage>;
  /** Returns whether the thread was there. */
  delete(threadId: string): Promise<boolean>;
  /**
   * Waits until the turns before are over, in the order of the calls, and makes the following turns
   * wait. Freed by `release`, or when its process ends. A store without it refuses the second of two
   * turns at once. @throws ThreadBusyError after `timeoutMs`; the reason of `signal`.
   */
  lock?(threadId: string, options: ThreadLockOptions): Promise<ThreadLock>;
  close?(): Promise<void>;
}

/** The input of a window policy. */
export interface WindowInput {
  readonly head: ThreadHead;
  /** Reads from the store, as `ConversationStore.read`. */
  read(query: TurnQuery): Promise<readonly StoredTurn[]>;
  /** By `Tokens.TokenCounter`; files by their type and size. */
  countTokens(messages: readonly ChatMessage[]): Awaitable<number>;
  /** Calls a model with the purpose `summary`, in the run of the turn. */
  summarize(options: SummaryRequest): Promise<string>;
  readonly run: RunInfo;
  readonly signal: AbortSignal;
  /** Emits a `run_warning`. */
  warn(message: string): void;
}

/** A request for a summary. */
export interface SummaryRequest {
  readonly turns: readonly StoredTurn[];
  /** The summary of earlier turns. */
  readonly previous?: string | undefined;
  /** Default: the model of the turn. */
  readonly model?: ModelRef | undefined;
  /** Default 200. */
  readonly maxWords?: number | undefined;
}

/** The turns that a model receives, and the summary of earlier turns. A new summary is stored. */
export interface WindowOutput {
  readonly turns: readonly StoredTurn[];
  readonly summary?: ThreadSummary | undefined;
}

/**
 * Selects the part of a thread that a model receives: whole turns only. Bound to
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
  /** The answer; empty for a turn without one. */
  readonly text: string;
  readonly agentRole: string;
  readonly finishReason: FinishReason;
  /** The messages that the turn added, the user's message first. */
  readonly messages: readonly ThreadMessage[];
  readonly output: EnsembleOutput;
  /** The error of a failed turn; only with `throwOnError: false`. */
  readonly error?: AgentEnsembleError | undefined;
}
