import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import type { SafeFetchSettings } from "./safe-fetch-options.js";
import { pipeline } from "node:stream/promises";
import { PassThrough } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { FetchError } from "../../../contracts/state-errors.js";
import { shownUrl } from "./shown-url.js";

/** The part of a body that was read. */
export interface FetchedBody {
  readonly bytes: Uint8Array;
  /** Whether it exceeds `maxBytes`. */
  readonly truncated: boolean;
}

/** Maximum ratio of decompressed to compressed bytes. A higher ratio indicates an attack. */
const HIGHEST_RATIO = 100;
/** Bodies up to this size in bytes may have a higher ratio. */
const HARMLESS_BYTES = 1_048_576;

/** Returns `undefined` for an unknown encoding, and for a list of several encodings. */
function decoderFor(encoding: string, firstByte: number): Transform | undefined {
  if (encoding === "" || encoding === "identity") return new PassThrough();
  if (encoding === "gzip" || encoding === "x-gzip") return createGunzip();
  if (encoding === "br") return createBrotliDecompress();
  // `deflate` means the zlib format, but some servers send raw data. The first byte tells which.
  if (encoding === "deflate") return firstByte % 16 === 8 ? createInflate() : createInflateRaw();
  return undefined;
}

/** Reads the body of one response with the limits. */
class BodyReader {
  readonly #url: URL;
  readonly #maxBytes: number;
  readonly #cuts: boolean;
  readonly #pieces: Buffer[] = [];
  #wireBytes = 0;
  #bytes = 0;
  #truncated = false;

  constructor(url: URL, { maxBytes, cuts }: SafeFetchSettings) {
    this.#url = url;
    this.#maxBytes = maxBytes;
    this.#cuts = cuts;
  }

  async read(answer: IncomingMessage): Promise<FetchedBody> {
    const announced = Number(answer.headers["content-length"] ?? 0);
    if (announced > this.#maxBytes && !this.#cuts) throw this.#tooLarge();
    // a stream without an encoding yields buffers
    const chunks: AsyncIterator<Buffer> = answer[Symbol.asyncIterator]();
    const first = await chunks.next();
    if (first.done !== true) await this.#decode(answer, first.value, chunks);
    return { bytes: Buffer.concat(this.#pieces), truncated: this.#truncated };
  }

  async #decode(
    answer: IncomingMessage,
    first: Buffer,
    rest: AsyncIterator<Buffer>,
  ): Promise<void> {
    const encoding = (answer.headers["content-encoding"] ?? "").trim().toLowerCase();
    const decoder = decoderFor(encoding, first[0] ?? 0);
    if (decoder === undefined)
      throw this.#bad(`its content encoding '${encoding.slice(0, 50)}' is not supported`);
    try {
      await pipeline(this.#wire(first, rest), decoder, (source: AsyncIterable<Buffer>) =>
        this.#collect(source),
      );
    } catch (error) {
      if (this.#truncated) return; // the pipeline reports an intended stop as a failure
      throw isDecodingError(error) ? this.#bad("its compressed body is damaged", error) : error;
    }
  }

  async *#wire(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
    for (
      let next: IteratorResult<Buffer> = { value: first };
      next.done !== true;
      next = await rest.next()
    ) {
      this.#wireBytes += next.value.byteLength;
      yield next.value;
      if (this.#wireBytes > this.#maxBytes && !this.#cuts) throw this.#tooLarge();
    }
  }

  async #collect(source: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of source) {
      const room = this.#maxBytes - this.#bytes;
      this.#bytes += piece.byteLength;
      if (this.#bytes > HARMLESS_BYTES && this.#bytes > this.#wireBytes * HIGHEST_RATIO)
        throw this.#bad(`its body unfolds to more than ${HIGHEST_RATIO} times its size`);
      if (piece.byteLength > room && !this.#cuts) throw this.#tooLarge();
      this.#pieces.push(piece.subarray(0, room));
      this.#truncated = piece.byteLength > room;
      if (this.#truncated) return;
    }
  }

  #tooLarge(): FetchError {
    return new FetchError(
      `Could not fetch ${shownUrl(this.#url)}: the answer is larger than ${this.#maxBytes} bytes`,
      { reason: "too_large" },
    );
  }

  #bad(what: string, cause?: unknown): FetchError {
    return new FetchError(
      `Could not fetch ${shownUrl(this.#url)}: ${what}`,
      { reason: "bad_response" },
      cause === undefined ? {} : { cause },
    );
  }
}

function isDecodingError(error: unknown): boolean {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return (
    typeof code === "string" &&
    (code.startsWith("Z_") || code.startsWith("ERR_BROTLI") || code.startsWith("ERR__ERROR"))
  );
}

/**
 * Reads and decompresses the body of a response within the limits.
 * @throws FetchError for a body that is too large or damaged; the errors of the connection.
 */
export function readBody(
  url: URL,
  answer: IncomingMessage,
  settings: SafeFetchSettings,
): Promise<FetchedBody> {
  return new BodyReader(url, settings).read(answer);
}
