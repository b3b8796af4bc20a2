import type { EnsembleEvent } from "./events.js";
import type { Awaitable } from "./types.js";

/**
 * One part of a stream for a page: JSON data with the fields that the protocol defines for its
 * `type`.
 */
export interface UIChunk {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A task whose text the page may receive. */
export interface UITask {
  readonly taskId: string;
  readonly agentRole: string;
}

/** Options that select the parts of a run that a page receives. */
export interface UIStreamOptions {
  /**
   * The tasks whose text, reasoning and tool calls are sent. `answer` (default): the task whose
   * output becomes the output of the run. This is the last task of SEQUENTIAL and PARALLEL, and the
   * manager of HIERARCHICAL. If the task is known only at the end of the run, the final text is
   * sent in one piece. `all`: all tasks, with partial outputs. A function is called with each task
   * at its start and returns whether to send the task.
   */
  readonly text?: "answer" | "all" | ((task: UITask) => boolean) | undefined;
  /** Whether reasoning is sent. Default true. */
  readonly reasoning?: boolean | undefined;
  /**
   * Whether the states of tasks, delegations, reviews and the budget are sent as data parts.
   * Default true.
   */
  readonly data?: boolean | undefined;
  /**
   * Whether the sources of tool results are sent. Default true. A call whose output is not sent has
   * no sources.
   */
  readonly sources?: boolean | undefined;
  /**
   * The data of tool calls that is sent. `full` (default): with input and output. `names`: without
   * input and output. `none`: no tool calls. Calls that the page executes are always sent with
   * their input.
   */
  readonly tools?: "full" | "names" | "none" | undefined;
  /** The id of the message. Default: the id of the run with the suffix `-a`. */
  readonly messageId?: string | undefined;
  /**
   * Returns metadata for the message. Called with each event. `undefined` adds no metadata.
   * Default: no metadata.
   */
  readonly metadata?: ((event: EnsembleEvent) => unknown) | undefined;
  /** Returns the text of an error for the page. Default: `An error occurred. (AE_...)`. */
  readonly onError?: ((error: Error) => string) | undefined;
  /**
   * The effect on the run when the reader disconnects. `cancel` (default): the run is cancelled.
   * `finish`: the run continues.
   */
  readonly onDisconnect?: "cancel" | "finish" | undefined;
  /**
   * Whether the response ends, with `finish`, when the run only waits for reviews. The run
   * continues in any case. Default false.
   */
  readonly endAtApproval?: boolean | undefined;
}

/** Stores streams. A reader can therefore reconnect. */
export interface StreamStore {
  /**
   * Appends parts to a stream. `n` is the number of the first part, counted from 0 without gaps.
   */
  append(streamId: string, n: number, chunks: readonly UIChunk[]): Awaitable<void>;
  /**
   * Returns the parts from number `from` on. Then waits for further parts until the stream has
   * ended or `signal` aborts. Returns `undefined` for an unknown or removed stream.
   */
  read(
    streamId: string,
    from: number,
    signal: AbortSignal,
  ): Awaitable<AsyncIterable<{ readonly n: number; readonly chunk: UIChunk }> | undefined>;
  /** Ends a stream: no more parts follow. */
  end(streamId: string): Awaitable<void>;
}

/** A message in the format of the AI SDK UI. */
export interface UIMessageLike {
  readonly id: string;
  readonly role: "user" | "assistant" | "system";
  readonly parts: readonly UIChunk[];
  readonly metadata?: unknown;
}

/**
 * Options that select the parts of a stored answer that a page receives. They have the same meaning
 * as for a stream.
 */
export type UIMessagesOptions = Pick<UIStreamOptions, "reasoning" | "sources" | "tools">;
