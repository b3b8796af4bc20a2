import type { EnsembleEvent } from "./events.js";
import type { Awaitable } from "./types.js";

/** One part of a stream for a page: JSON, with the fields that the protocol has for its `type`. */
export interface UIChunk {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A task whose text may be shown. */
export interface UITask {
  readonly taskId: string;
  readonly agentRole: string;
}

/** What of a run a page sees. */
export interface UIStreamOptions {
  /**
   * Whose text, reasoning and tool calls are shown. `answer` (default): those of the task whose output is the run's: the last one of SEQUENTIAL and PARALLEL,
   * the manager of HIERARCHICAL; where only the end of the run shows which it is, the final text in one piece. `all`: those of every agent, and partial
   * outputs. A function: those of the tasks for which it returns true when they begin.
   */
  readonly text?: "answer" | "all" | ((task: UITask) => boolean) | undefined;
  /** Whether reasoning is shown. Default true. */
  readonly reasoning?: boolean | undefined;
  /** Whether states of tasks, delegations, reviews and the budget are shown, as data parts. Default true. */
  readonly data?: boolean | undefined;
  /** Tool calls with input and output (`full`, the default), without both (`names`), or not at all (`none`). */
  readonly tools?: "full" | "names" | "none" | undefined;
  /** The id of the message. Default: the id of the run with `-a` behind it. */
  readonly messageId?: string | undefined;
  /** Returns metadata for the message; called with each event. `undefined` adds none. */
  readonly metadata?: ((event: EnsembleEvent) => unknown) | undefined;
  /** Returns the text of an error that a page is shown. Default: `An error occurred. (AE_...)`. */
  readonly onError?: ((error: Error) => string) | undefined;
  /** What happens to the run when the reader leaves. Default `cancel`. */
  readonly onDisconnect?: "cancel" | "finish" | undefined;
  /** Ends the response, with `finish`, where everything that is left waits for a person; the run goes on. Default false. */
  readonly endAtApproval?: boolean | undefined;
}

/** Keeps streams so that a reader can come back. */
export interface StreamStore {
  /** Adds parts; `n` is the number of the first one, counted from 0 without gaps. */
  append(streamId: string, n: number, chunks: readonly UIChunk[]): Awaitable<void>;
  /**
   * Returns the parts from number `from` on and waits for more until the stream has ended, or until `signal` aborts. `undefined` for a stream that is not
   * known, or not any more.
   */
  read(
    streamId: string,
    from: number,
    signal: AbortSignal,
  ): Awaitable<AsyncIterable<{ readonly n: number; readonly chunk: UIChunk }> | undefined>;
  /** No more parts follow. */
  end(streamId: string): Awaitable<void>;
}

/** A message as pages of the AI SDK have it. */
export interface UIMessageLike {
  readonly id: string;
  readonly role: "user" | "assistant" | "system";
  readonly parts: readonly UIChunk[];
  readonly metadata?: unknown;
}

/** What of an answer a page shows, as in a stream. */
export type UIMessagesOptions = Pick<UIStreamOptions, "reasoning" | "tools">;
