import { firstEnding } from "../../../util/abort/timeouts.js";
import { InvalidResponseError } from "./invalid-response-error.js";
import type { CallDeadline } from "./call-deadline.js";
import { messageOf } from "../../../util/errors.js";

/**
 * Time limit in milliseconds for reading the end of a complete response. The connection can then be
 * reused.
 */
const DRAIN_MS = 100;

function announcedLength(response: Response): number | undefined {
  const text = response.headers.get("content-length");
  // The header contains the compressed length, which can't be compared here.
  if (text === null || !/^\d+$/.test(text) || response.headers.has("content-encoding"))
    return undefined;
  return Number(text);
}

/**
 * The body of a response, read as text in chunks within the deadline. At most `maxBytes` are read,
 * counted after decompression.
 */
export class GuardedBody {
  readonly #deadline: CallDeadline;
  readonly #maxBytes: number;
  readonly #announced: number | undefined;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #decoder = new TextDecoder();
  #bytes = 0;
  #ended: boolean;

  constructor(response: Response, deadline: CallDeadline, maxBytes: number) {
    const body: ReadableStream<Uint8Array> | null = response.body;
    this.#reader = body?.getReader();
    this.#ended = body === null;
    this.#deadline = deadline;
    this.#maxBytes = maxBytes;
    this.#announced = announcedLength(response);
  }

  /**
   * Returns the next chunk, or `undefined` at the end.
   * @throws InvalidResponseError for a body that is interrupted or too large; the deadline's reason
   */
  async next(): Promise<string | undefined> {
    if (this.#ended || this.#reader === undefined) return undefined;
    this.#checkSize(this.#announced ?? 0);
    const value = await this.#read(this.#reader);
    if (value === undefined) return this.#end();
    this.#bytes += value.byteLength;
    this.#checkSize(this.#bytes);
    return this.#decoder.decode(value, { stream: true });
  }

  /**
   * Releases the connection. Keeps it for reuse if the body has ended or almost ended. Closes it
   * otherwise.
   */
  async release(): Promise<void> {
    const reader = this.#reader;
    if (this.#ended || reader === undefined) return;
    this.#ended = true;
    let isEnded = false;
    const last = reader.read().then(
      ({ done }) => (isEnded = done),
      () => (isEnded = true),
    );
    await firstEnding(last, { timeoutMs: DRAIN_MS });
    if (!isEnded) this.#cancel(reader);
  }

  /** Closes the connection unless the body has ended. */
  close(): void {
    if (this.#ended || this.#reader === undefined) return;
    this.#ended = true;
    this.#cancel(this.#reader);
  }

  #cancel(reader: ReadableStreamDefaultReader<Uint8Array>): void {
    // Not awaited, so a body can't delay the end of the call. A body that has failed can't be
    // cancelled.
    reader.cancel().catch(() => undefined);
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
    try {
      return (await this.#deadline.race(reader.read())).value;
    } catch (error) {
      if (this.#deadline.signal.aborted) throw error;
      this.#ended = true;
      throw new InvalidResponseError(`The answer broke off: ${messageOf(error)}`);
    }
  }

  #end(): string | undefined {
    this.#ended = true;
    if (this.#announced !== undefined && this.#bytes < this.#announced) {
      throw new InvalidResponseError(
        `The answer broke off: ${this.#announced} bytes were announced, ${this.#bytes} came`,
      );
    }
    const rest = this.#decoder.decode();
    return rest === "" ? undefined : rest;
  }

  #checkSize(bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    throw new InvalidResponseError(`The answer is larger than ${this.#maxBytes} bytes`, {
      hint: "Raise maxResponseBytes in the options of the model, if this is to be.",
    });
  }
}
