import type { FileHandle } from "node:fs/promises";

/** The lines to read. */
export interface PageRequest {
  /** The first line, counted from 1. */
  readonly firstLine: number;
  readonly lineCount: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Lines of a file, or the reason why there are none. */
export type LinePage =
  | {
      readonly kind: "lines";
      readonly bytes: Uint8Array;
      readonly lastLine: number;
      /** Whether there are lines after this page. */
      readonly more: boolean;
      /** Whether the page is one line, cut because it is longer than `maxBytes`. */
      readonly cut: boolean;
    }
  /** The file contains a NUL byte. */
  | { readonly kind: "binary" }
  | { readonly kind: "beyond-end"; readonly lines: number }
  | { readonly kind: "too-far" };

const CHUNK = 64 * 1024;
/** Maximum number of bytes to scan for a line. */
const FURTHEST = 256 * 1024 * 1024;
const NEWLINE = 10;

/** Finds the position after `skip` line ends in a chunk, and the number of line ends found. */
function afterLines(
  chunk: Uint8Array,
  skip: number,
): { readonly start: number; readonly passed: number } {
  let [start, passed] = [0, 0];
  while (passed < skip) {
    const end = chunk.indexOf(NEWLINE, start);
    if (end === -1) return { start: chunk.length, passed };
    [start, passed] = [end + 1, passed + 1];
  }
  return { start, passed };
}

class PageReader {
  readonly #handle: FileHandle;
  readonly #request: PageRequest;
  readonly #kept: Uint8Array[] = [];
  #keptBytes = 0;
  #line = 1;
  #lines = 0;
  #position = 0;
  /** Whether the last byte that was skipped was not a line end. */
  #inLine = false;

  constructor(handle: FileHandle, request: PageRequest) {
    this.#handle = handle;
    this.#request = request;
  }

  async read(): Promise<LinePage> {
    const { maxBytes, lineCount, firstLine, signal } = this.#request;
    while (this.#lines < lineCount && this.#keptBytes <= maxBytes) {
      signal.throwIfAborted();
      if (this.#keptBytes === 0 && this.#position > FURTHEST) return { kind: "too-far" };
      const chunk = await this.#next();
      if (chunk === undefined) break;
      if (chunk.includes(0)) return { kind: "binary" };
      this.#take(chunk);
    }
    if (this.#keptBytes === 0 && firstLine > 1)
      return { kind: "beyond-end", lines: this.#line - (this.#inLine ? 0 : 1) };
    return this.#page();
  }

  async #next(): Promise<Uint8Array | undefined> {
    const { bytesRead, buffer } = await this.#handle.read(
      Buffer.allocUnsafe(CHUNK),
      0,
      CHUNK,
      this.#position,
    );
    this.#position += bytesRead;
    return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead);
  }

  #take(chunk: Uint8Array): void {
    const { firstLine, lineCount } = this.#request;
    const skipped = afterLines(chunk, firstLine - this.#line);
    this.#line += skipped.passed;
    this.#inLine = chunk[chunk.length - 1] !== NEWLINE;
    const rest = chunk.subarray(skipped.start);
    if (rest.length === 0 || this.#line < firstLine) return;
    const wanted = afterLines(rest, lineCount - this.#lines);
    this.#lines += wanted.passed;
    this.#kept.push(rest.subarray(0, wanted.start));
    this.#keptBytes += wanted.start;
    // continue reading here to detect whether there is more
    if (wanted.start < rest.length) this.#position -= rest.length - wanted.start;
  }

  async #page(): Promise<LinePage> {
    const { maxBytes, firstLine } = this.#request;
    const all = Buffer.concat(this.#kept);
    const whole = all.length <= maxBytes;
    const end = whole ? all.length : all.lastIndexOf(NEWLINE, maxBytes - 1) + 1;
    const cut = !whole && end === 0;
    const bytes = all.subarray(0, cut ? characterEnd(all, maxBytes) : end);
    const lines =
      afterLines(bytes, Number.POSITIVE_INFINITY).passed +
      (bytes.length > 0 && bytes[bytes.length - 1] !== NEWLINE ? 1 : 0);
    return {
      kind: "lines",
      bytes,
      lastLine: firstLine + Math.max(lines - 1, 0),
      more: !whole || (await this.#next()) !== undefined,
      cut,
    };
  }
}

/** Returns the last position up to `end` that does not split a character. */
function characterEnd(bytes: Uint8Array, end: number): number {
  let place = end;
  while (place > 0 && ((bytes[place] ?? 0) & 0xc0) === 0x80) place--;
  return place;
}

/** Reads some lines of a file of any size, chunk by chunk. */
export function readPage(handle: FileHandle, request: PageRequest): Promise<LinePage> {
  return new PageReader(handle, request).read();
}
