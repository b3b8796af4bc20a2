import type { EnsembleEvent } from "../../../contracts/events.js";
import type { RunHandle } from "../../../contracts/run.js";
import type { UIChunk, UIStreamOptions } from "../../../contracts/ui-stream.js";
import type { PageEnd, PageStream } from "./page-stream.js";
import { redactorOf } from "../../../contracts/redaction.js";
import { toError } from "../../../util/errors.js";
import { ChunkBuffer } from "./chunk-buffer.js";

/** The next result of the events of a run: an event, or their end. */
type NextEvent = IteratorResult<EnsembleEvent, unknown>;

/**
 * The parts of the stream of one run, for one reader. At most 64 parts are buffered. Further events
 * wait in the queue of the run.
 */
export class RunChunks {
  readonly #handle: RunHandle;
  readonly #stream: PageStream;
  readonly #events: AsyncIterator<EnsembleEvent, unknown>;
  readonly #buffer = new ChunkBuffer();
  #o: UIStreamOptions;
  /** A requested event that has not arrived. */
  #pending: Promise<NextEvent> | undefined;
  #state: "reading" | "paused" | "over" = "reading";
  /** The part that ended a response because the run waits for people. */
  #pause: UIChunk | undefined;
  #wake: (() => void) | undefined;

  constructor(handle: RunHandle, stream: PageStream, o: UIStreamOptions) {
    this.#handle = handle;
    this.#stream = stream;
    this.#o = o;
    this.#events = handle.events[Symbol.asyncIterator]();
    void this.#read();
  }

  /** Whether the response ended because the run waits for people, and the run continues. */
  get isPaused(): boolean {
    return this.#state === "paused";
  }

  /** Returns the next part. `undefined` after the last one. One call at a time. */
  async next(): Promise<UIChunk | undefined> {
    for (;;) {
      const chunk = this.#buffer.shift();
      if (chunk !== undefined) {
        this.#roused();
        return chunk;
      }
      if (this.#state !== "reading") return undefined;
      await this.#sleep();
    }
  }

  /** Whether a part is the last one of its response and the run continues in the next response. */
  isLast(chunk: UIChunk): boolean {
    return chunk === this.#pause;
  }

  /** Removes and returns the buffered parts. */
  takeRest(): UIChunk[] {
    const rest: UIChunk[] = [];
    for (let chunk = this.#buffer.shift(); chunk !== undefined; chunk = this.#buffer.shift())
      rest.push(chunk);
    return rest;
  }

  /** Begins the next response, with the parts after a pause. */
  startNextResponse(options: UIStreamOptions): void {
    if (this.#state !== "paused") return;
    this.#o = options;
    this.#stream.startNextResponse(options);
    this.#state = "reading";
    void this.#read();
  }

  /**
   * Called when the reader has disconnected. Cancels the run, unless `onDisconnect` is `"finish"`
   * or the run waits for people.
   */
  leave(): void {
    this.#buffer.clear();
    if (this.#state === "reading") this.#letGo("The reader of its stream has left");
    this.#roused();
  }

  async #read(): Promise<void> {
    try {
      while (this.#state === "reading") {
        if (this.#buffer.isFull) await this.#sleep();
        else await this.#step();
      }
    } catch (error) {
      this.#buffer.add(this.#stream.end({ kind: "failed", error: toError(error) }));
      this.#letGo("Its stream failed");
    }
    this.#roused();
  }

  async #step(): Promise<void> {
    const next = (this.#pending ??= this.#events.next());
    if (this.#o.endAtApproval === true && this.#stream.waitsForPeople && !(await comesSoon(next))) {
      if (this.#state !== "reading") return;
      const parts = this.#stream.pause();
      this.#pause = parts.at(-1);
      this.#buffer.add(parts);
      this.#state = "paused";
      return;
    }
    const result = await next;
    this.#pending = undefined;
    if (this.#state !== "reading") return;
    if (result.done === true) {
      this.#buffer.add(this.#stream.end(await outcomeOfRun(this.#handle)));
      this.#state = "over";
    } else this.#buffer.add(this.#stream.take(result.value));
    this.#roused();
  }

  /** Stops reading events. Cancels the run unless `onDisconnect` is `"finish"`. */
  #letGo(reason: string): void {
    this.#state = "over";
    void Promise.resolve(this.#events.return?.()).catch(() => undefined); // not awaited
    if (this.#o.onDisconnect !== "finish") this.#handle.cancel(reason);
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const others = this.#wake;
      this.#wake = () => {
        others?.();
        resolve();
      };
    });
  }

  /** Resumes the waiting side: a reader without parts, or a producer without space. */
  #roused(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/** Returns the outcome of a run whose events have ended. */
async function outcomeOfRun({ output }: RunHandle): Promise<PageEnd> {
  try {
    const result = await output;
    if (result.error !== undefined) return { kind: "failed", error: result.error };
    const { exitReason, raw } = result;
    return { kind: "ended", exitReason, raw, redactor: redactorOf(result) };
  } catch (error) {
    return { kind: "failed", error: toError(error) };
  }
}

/**
 * Whether an event arrives before the process continues with other work. Tasks that become ready
 * start at once.
 */
function comesSoon(next: Promise<unknown>): Promise<boolean> {
  return Promise.race([
    next.then(
      () => true,
      () => true,
    ),
    new Promise<false>((resolve) => setImmediate(() => setImmediate(resolve, false))),
  ]);
}
