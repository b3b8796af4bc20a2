import type { StreamStore, UIChunk } from "../../contracts/ui-stream.js";
import type { ChunkSource } from "../shared/ui-stream/chunk-response.js";
import type { RunChunks } from "../shared/ui-stream/run-chunks.js";
import type { EventTap } from "./event-tap.js";
import type { LiveStream, StreamParts } from "./live-stream.js";
import { toError } from "../../util/errors.js";
import { asText } from "../../util/objects.js";
import { reportFailure } from "./answers.js";
import { chunksOfRun } from "./live-stream.js";

interface NumberedChunk {
  readonly n: number;
  readonly chunk: UIChunk;
}

/**
 * A stream in a store, for any number of readers. Each reads at its own pace, from the beginning or
 * after a pause.
 */
export class KeptStream implements LiveStream {
  readonly isKept = true;
  readonly clientCalls: ReadonlyMap<string, string>;
  readonly #store: StreamStore;
  readonly #id: string;
  readonly #events: Pick<EventTap, "asked" | "awaits" | "arrival">;
  readonly #failure: StreamParts["failure"];
  /** Set to `undefined` after the end of the run, because its output is not stored. */
  #parts: StreamParts | undefined;
  /** Ids of calls of the page that have ended. The page does not execute them again. */
  readonly #executed = new Set<string>();
  /** Number of stored parts. */
  #count = 0;
  /** The position after the last pause. */
  #behindPause = 0;
  #readers = 0;
  #state: "running" | "paused" | "over" = "running";
  /** Callers that wait for a pause or the end. */
  readonly #waiting: (() => void)[] = [];
  /** The error because of which the store lacks parts. */
  #fault: Error | undefined;
  #begin: () => void = () => undefined;
  /** Resolves when the store contains the first part, or has failed. */
  readonly #hasBegun = new Promise<void>((resolve) => (this.#begin = resolve));

  constructor(store: StreamStore, parts: StreamParts) {
    this.#store = store;
    this.#id = parts.handle.id;
    this.#events = parts.events;
    this.#failure = parts.failure;
    this.clientCalls = parts.page.clientCalls;
    this.#parts = parts;
    void this.#keep(chunksOfRun(parts), parts);
  }

  get isPaused(): boolean {
    return this.#state === "paused";
  }

  async settled(): Promise<void> {
    if (this.#state === "running")
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  asked(reviewId: string): boolean {
    return this.#events.asked(reviewId);
  }

  begin(): Promise<ChunkSource | undefined> {
    return this.#read(0);
  }

  open(): Promise<ChunkSource | undefined> {
    return this.#read(0);
  }

  async continueAfter(answered: readonly string[]): Promise<ChunkSource | undefined> {
    if (this.#state === "paused") {
      if (!this.#events.awaits(answered)) return undefined;
      await this.#events.arrival();
    }
    return this.#read(this.#behindPause);
  }

  /**
   * Stores the parts. Never rejects. If the store fails, the stream ends with an error. The run
   * continues as if its reader had disconnected.
   */
  async #keep(chunks: RunChunks, parts: StreamParts): Promise<void> {
    try {
      for (;;) {
        const chunk = await chunks.next();
        if (chunk !== undefined) await this.#append(chunk);
        else if (chunks.isPaused) await this.#waitForAnswer(chunks, parts);
        else break;
      }
    } catch (error) {
      this.#fault = toError(error);
      reportFailure(this.#fault);
      chunks.leave();
    }
    this.#settle("over");
    this.#parts = undefined;
    this.#begin();
    try {
      await this.#store.end(this.#id);
    } catch (error) {
      reportFailure(toError(error));
    }
  }

  #settle(state: "paused" | "over"): void {
    this.#state = state;
    for (const settle of this.#waiting.splice(0)) settle();
  }

  async #append(chunk: UIChunk): Promise<void> {
    const n = this.#count++;
    if (isPause(chunk)) this.#behindPause = n + 1;
    if (chunk.type.startsWith("tool-output-")) this.#executed.add(asText(chunk["toolCallId"]));
    await this.#store.append(this.#id, n, [chunk]);
    this.#begin();
  }

  async #waitForAnswer(chunks: RunChunks, { events, options }: StreamParts): Promise<void> {
    this.#settle("paused");
    await events.arrival(); // until the event arrives, the run counts as paused
    this.#state = "running";
    chunks.startNextResponse(options);
  }

  async #read(from: number): Promise<ChunkSource | undefined> {
    await this.#hasBegun;
    const end = new AbortController();
    const chunks = await this.#store.read(this.#id, from, end.signal);
    if (chunks === undefined) return undefined;
    this.#readers++;
    return new StoredReader(chunks[Symbol.asyncIterator](), {
      isLast: (n) => n + 1 === this.#count,
      isExecuted: (id) => this.clientCalls.has(id) && this.#executed.has(id),
      failure: this.#failure,
      fault: () => this.#fault,
      onEnd: (hasLeft) => {
        end.abort();
        this.#ended(hasLeft);
      },
    });
  }

  #ended(hasLeft: boolean): void {
    this.#readers--;
    if (!hasLeft || this.#readers > 0 || this.#state !== "running") return;
    if (this.#parts?.options.onDisconnect !== "finish")
      this.#parts?.handle.cancel("the reader of its stream has left");
  }
}

/** Returns whether a part ends a response because the run waits for people. */
function isPause({ type, finishReason }: UIChunk): boolean {
  return type === "finish" && finishReason === "tool-calls";
}

interface ReaderOptions {
  /** Whether part `n` is the last one so far. */
  readonly isLast: (n: number) => boolean;
  /** Whether the page has already executed this call. */
  readonly isExecuted: (toolCallId: string) => boolean;
  /** The part that reports the failure of the stream. */
  readonly failure: StreamParts["failure"];
  /** The reason why the stream ends without its last part. */
  readonly fault: () => Error | undefined;
  readonly onEnd: (hasLeft: boolean) => void;
}

/** Reads a stream up to its end, or to a current pause. Earlier pauses are skipped. */
class StoredReader implements ChunkSource {
  readonly #chunks: AsyncIterator<NumberedChunk, unknown>;
  readonly #o: ReaderOptions;
  #isOver = false;

  constructor(chunks: AsyncIterator<NumberedChunk, unknown>, o: ReaderOptions) {
    this.#chunks = chunks;
    this.#o = o;
  }

  async next(): Promise<UIChunk | undefined> {
    while (!this.#isOver) {
      const result = await this.#take();
      if (result === undefined) return this.#over();
      const { n, chunk } = result;
      if (chunk.type === "tool-input-available" && this.#o.isExecuted(asText(chunk["toolCallId"])))
        continue;
      if (!isPause(chunk)) return chunk;
      if (!this.#o.isLast(n)) continue;
      this.#end(false);
      return chunk;
    }
    return undefined;
  }

  leave(): void {
    this.#end(true);
  }

  /**
   * Returns the next part. If the store drops the stream during the read, the stream ends with an
   * error.
   */
  async #take(): Promise<NumberedChunk | undefined> {
    try {
      const result = await this.#chunks.next();
      return result.done === true ? undefined : result.value;
    } catch (error) {
      const chunk = this.#o.failure(toError(error));
      this.#end(true);
      return { n: -1, chunk };
    }
  }

  #over(): UIChunk | undefined {
    const fault = this.#o.fault();
    this.#end(false);
    return fault === undefined ? undefined : this.#o.failure(fault);
  }

  #end(hasLeft: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#o.onEnd(hasLeft);
  }
}
