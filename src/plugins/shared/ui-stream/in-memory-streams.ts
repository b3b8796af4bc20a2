import type { StreamStore as Store, UIChunk } from "../../../contracts/ui-stream.js";
import { AgentEnsembleError, ValidationError } from "../../../contracts/errors.js";
import { checkOptions, requireDelay, requireInteger } from "../../../contracts/validation.js";

/** Limits of the streams in memory. */
export interface InMemoryStreamsOptions {
  /**
   * Maximum number of streams. Beyond it, the oldest ended stream is removed, or else the oldest
   * stream. Default 200.
   */
  readonly maxStreams?: number | undefined;
  /**
   * Maximum size of one stream's parts as JSON, in bytes. A larger stream is not kept. Default 8
   * MiB.
   */
  readonly maxBytes?: number | undefined;
  /** Time in milliseconds for which a stream is kept after its end. Default 300,000. */
  readonly keepMs?: number | undefined;
}

interface KeptStream {
  readonly chunks: UIChunk[];
  bytes: number;
  state: "open" | "ended" | "lost";
  /** Readers that wait for more parts. */
  readonly waiting: Set<() => void>;
  /** Removes the ended stream later. The timer refers to the parts until it is cleared. */
  expiry?: NodeJS.Timeout | undefined;
}

/** Streams in the memory of the process. */
class InMemoryStreams implements Store {
  readonly #o: Required<{ [K in keyof InMemoryStreamsOptions]: number }>;
  readonly #streams = new Map<string, KeptStream>();
  /** Streams that were removed before their end. Their further parts are not kept. */
  readonly #dropped = new Set<string>();

  constructor({ maxStreams, maxBytes, keepMs }: InMemoryStreamsOptions) {
    this.#o = {
      maxStreams: maxStreams ?? 200,
      maxBytes: maxBytes ?? 8 * 1024 * 1024,
      keepMs: keepMs ?? 300_000,
    };
  }

  append(streamId: string, n: number, chunks: readonly UIChunk[]): void {
    if (this.#dropped.has(streamId)) return;
    const stream = this.#streams.get(streamId) ?? this.#begin(streamId, n);
    if (stream.state === "lost") return;
    if (stream.state === "ended" || n !== stream.chunks.length)
      throw new ValidationError(
        `Stream '${streamId}' takes part ${stream.state === "ended" ? "none any more" : stream.chunks.length}, got: ${n}`,
      );
    stream.bytes += Buffer.byteLength(JSON.stringify(chunks));
    if (stream.bytes > this.#o.maxBytes) return lose(stream);
    stream.chunks.push(...chunks);
    wakeReaders(stream);
  }

  read(
    streamId: string,
    from: number,
    signal: AbortSignal,
  ): AsyncIterable<{ readonly n: number; readonly chunk: UIChunk }> | undefined {
    requireInteger("StreamStore read from", from, 0);
    const stream = this.#streams.get(streamId);
    return stream === undefined || stream.state === "lost"
      ? undefined
      : followStream(stream, from, signal);
  }

  end(streamId: string): void {
    this.#dropped.delete(streamId);
    const stream = this.#streams.get(streamId);
    if (stream === undefined || stream.state === "ended") return;
    if (stream.state === "lost") return void this.#streams.delete(streamId);
    stream.state = "ended";
    wakeReaders(stream);
    const forget = (): void => {
      if (this.#streams.get(streamId) === stream) this.#streams.delete(streamId);
    };
    if (this.#o.keepMs === 0) forget();
    else stream.expiry = setTimeout(forget, this.#o.keepMs).unref(); // does not keep the process alive
  }

  /** @throws ValidationError if the first part is missing. */
  #begin(streamId: string, n: number): KeptStream {
    if (n !== 0) throw new ValidationError(`Stream '${streamId}' takes part 0, got: ${n}`);
    if (this.#streams.size >= this.#o.maxStreams) {
      const kept = [...this.#streams];
      const [oldest] = kept.filter(([, { state }]) => state !== "open").concat(kept);
      if (oldest !== undefined) {
        const [id, dropped] = oldest;
        this.#streams.delete(id);
        clearTimeout(dropped.expiry);
        if (dropped.state !== "ended") this.#dropped.add(id);
        if (dropped.state === "open") lose(dropped);
      }
    }
    const stream: KeptStream = { chunks: [], bytes: 0, state: "open", waiting: new Set() };
    this.#streams.set(streamId, stream);
    return stream;
  }
}

function lose(stream: KeptStream): void {
  stream.state = "lost";
  stream.chunks.length = 0;
  wakeReaders(stream);
}

function wakeReaders({ waiting }: KeptStream): void {
  for (const wake of waiting) wake();
}

/** @throws AgentEnsembleError `AE_STREAM_LOST` if the stream was dropped while it was read. */
async function* followStream(
  stream: KeptStream,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<{ readonly n: number; readonly chunk: UIChunk }, void, void> {
  for (let n = from; !signal.aborted; n++) {
    while (n >= stream.chunks.length && stream.state === "open" && !signal.aborted)
      await changeOf(stream, signal);
    if (stream.state === "lost")
      throw new AgentEnsembleError(
        "AE_STREAM_LOST",
        "The stream is too large, or too old, to keep",
        {
          hint: "Raise maxBytes or maxStreams of StreamStore.inMemory().",
        },
      );
    const chunk = stream.chunks[n];
    if (chunk === undefined) return;
    yield { n, chunk };
  }
}

/** Resolves when more parts exist, the stream ends, or the reader disconnects. */
function changeOf({ waiting }: KeptStream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      waiting.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    waiting.add(wake);
    signal.addEventListener("abort", wake);
  });
}

/** Stores streams so that clients can reconnect; see the contract. */
export type StreamStore = Store;

/** The available stores. */
export const StreamStore = Object.freeze({
  /**
   * Stores streams in memory within limits, until the process ends.
   * @throws ValidationError for invalid options.
   */
  inMemory: (o: InMemoryStreamsOptions = {}): StreamStore => {
    const what = "StreamStore.inMemory";
    checkOptions(what, o, ["maxStreams", "maxBytes", "keepMs"]);
    requireInteger(`${what} maxStreams`, o.maxStreams, 1);
    requireInteger(`${what} maxBytes`, o.maxBytes, 1);
    requireDelay(`${what} keepMs`, o.keepMs);
    return new InMemoryStreams(o);
  },
});
