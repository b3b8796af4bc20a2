import type { RunHandle } from "../../contracts/run.js";
import type { UIChunk, UIStreamOptions } from "../../contracts/ui-stream.js";
import type { ChunkSource } from "../shared/ui-stream/chunk-response.js";
import type { PageStream } from "../shared/ui-stream/page-stream.js";
import type { EventTap } from "./event-tap.js";
import { ResponseChunks } from "../shared/ui-stream/response-chunks.js";
import { RunChunks } from "../shared/ui-stream/run-chunks.js";

/** The parts of a stream. */
export interface StreamParts {
  readonly handle: RunHandle;
  readonly events: EventTap;
  readonly page: PageStream;
  readonly options: UIStreamOptions;
  /** The part that reports the failure of the stream itself. */
  readonly failure: (error: Error) => UIChunk;
}

/** The stream of a run in progress, or of a stored run that has ended. */
export interface LiveStream {
  /** Whether the stream can be read after the end of its run. */
  readonly isKept: boolean;
  /** Whether all remaining work of the run waits for a person. */
  readonly isPaused: boolean;
  /** The ids of the reviews that await the output of a call, by the call id on the page. */
  readonly clientCalls: ReadonlyMap<string, string>;
  /** Resolves when the run waits for people, or has ended. */
  settled(): Promise<void>;
  /** Returns whether the run has requested this review of one of its tool calls. */
  asked(reviewId: string): boolean;
  /**
   * Returns the stream for the request that started the run. Returns `undefined` if its store does
   * not keep the stream.
   */
  begin(): Promise<ChunkSource | undefined>;
  /** Returns the stream from its first part. Returns `undefined` if it is not stored. */
  open(): Promise<ChunkSource | undefined>;
  /**
   * Returns the stream after the last pause, when these reviews are answered. Returns `undefined`
   * if another request continues the stream, or if the run waits for other answers.
   */
  continueAfter(answered: readonly string[]): Promise<ChunkSource | undefined>;
}

/** Returns the parts of a run. They end with the run, and pause while the run waits for people. */
export function chunksOfRun({ handle, events, page, options }: StreamParts): RunChunks {
  const { id, output } = handle;
  const cancel = (reason?: string): void => handle.cancel(reason);
  return new RunChunks({ id, output, cancel, events }, page, options);
}

/** A stream with one reader, which sets the pace. */
export class DirectStream implements LiveStream {
  readonly isKept = false;
  readonly #parts: StreamParts;
  readonly #chunks: RunChunks;
  #response: ResponseChunks;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.#chunks = chunksOfRun(parts);
    this.#response = new ResponseChunks(this.#chunks);
  }

  get isPaused(): boolean {
    return this.#chunks.isPaused;
  }

  get clientCalls(): ReadonlyMap<string, string> {
    return this.#parts.page.clientCalls;
  }

  async settled(): Promise<void> {
    await this.#parts.handle.output.catch(() => undefined);
  }

  asked(reviewId: string): boolean {
    return this.#parts.events.asked(reviewId);
  }

  begin(): Promise<ChunkSource> {
    return Promise.resolve(this.#response);
  }

  open(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async continueAfter(answered: readonly string[]): Promise<ChunkSource | undefined> {
    const { events, options } = this.#parts;
    if (!this.#chunks.isPaused || !events.awaits(answered)) return undefined;
    await events.arrival(); // until the event arrives, the run counts as paused
    if (!this.#chunks.isPaused) return undefined; // another request has continued the stream
    return (this.#response = this.#response.follow(options));
  }
}
