import { firstEnding } from "../../../util/abort/timeouts.js";
import { InvalidResponseError } from "./invalid-response-error.js";
import type { CallDeadline } from "./call-deadline.js";
import { messageOf } from "../../../util/errors.js";

/** How long the end of an answer that is already complete is waited for, so that its connection can be used again. */
const DRAIN_MS = 100;

function announcedLength(response: Response): number | undefined {
  const text = response.headers.get("content-length");
  // What is announced is the length before decompression, which nobody sees here.
  if (text === null || !/^\d+$/.test(text) || response.headers.has("content-encoding"))
    return undefined;
  return Number(text);
}

/** The body of an answer, read as text piece by piece: never more than `maxBytes` (after decompression), never beyond the deadline. */
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

  /** The next piece; `undefined` at the end. @throws InvalidResponseError for a body that breaks off or is too large; the deadline's reason. */
  async next(): Promise<string | undefined> {
    if (this.#ended || this.#reader === undefined) return undefined;
    this.#checkSize(this.#announced ?? 0);
    const value = await this.#read(this.#reader);
    if (value === undefined) return this.#end();
    this.#bytes += value.byteLength;
    this.#checkSize(this.#bytes);
    return this.#decoder.decode(value, { stream: true });
  }

  /** Lets go of the connection: for further use where the body is at its end or all but, else by closing it. */
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

  /** Lets go of the connection by closing it, unless the body is at its end. */
  close(): void {
    if (this.#ended || this.#reader === undefined) return;
    this.#ended = true;
    this.#cancel(this.#reader);
  }

  #cancel(reader: ReadableStreamDefaultReader<Uint8Array>): void {
    // Not waited for, so that no body can hold up the end of a call; one that is already broken cannot be cancelled, and needs not be.
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
