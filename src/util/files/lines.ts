import type { FileHandle } from "node:fs/promises";

const CHUNK_BYTES = 1 << 20;
const BLOCK_BYTES = 16 << 10;
const LINE_FEED = 10;
/** Bytes that are read first from the end of a file. */
const FIRST_STEP = 64 << 10;

/** A line of a file, without its line feed. */
export interface FileLine {
  readonly text: string;
  /** Position of the first byte. */
  readonly start: number;
  /** Position after the line feed. */
  readonly end: number;
}

/**
 * Calls `take` with each complete line from the position `from` on, until `take` returns false.
 * Reads in pieces: other work can proceed in between. Omits a last line without a line feed.
 * Returns the position after the last line passed to `take`.
 */
export async function eachLine(
  file: FileHandle,
  take: (line: FileLine) => boolean | void,
  from = 0,
): Promise<number> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let parts: Buffer[] = [];
  let lineStart = from;
  for (let position = from; ;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return lineStart;
    position += bytesRead;
    const read = chunk.subarray(0, bytesRead);
    let start = 0;
    for (let end = read.indexOf(LINE_FEED); end !== -1; end = read.indexOf(LINE_FEED, start)) {
      const last = read.subarray(start, end);
      const bytes = parts.length === 0 ? last : Buffer.concat([...parts, last]);
      const line = { text: bytes.toString("utf8"), start: lineStart };
      lineStart += bytes.length + 1;
      if (take({ ...line, end: lineStart }) === false) return lineStart;
      parts = [];
      start = end + 1;
    }
    if (start < bytesRead) parts.push(Buffer.from(read.subarray(start)));
  }
}

/** Returns the line that begins at a position, without its line feed, or the rest of the file. */
export async function lineAt(file: FileHandle, position: number): Promise<string> {
  const blocks: Buffer[] = [];
  for (let at = position; ; at += BLOCK_BYTES) {
    const block = await blockAt(file, at, BLOCK_BYTES);
    const end = block.indexOf(LINE_FEED);
    blocks.push(end === -1 ? block : block.subarray(0, end));
    if (end !== -1 || block.length === 0) return Buffer.concat(blocks).toString("utf8");
  }
}

/**
 * Returns the last complete line of a file of `size` bytes. Returns `undefined` if there is no
 * complete line.
 */
export async function lastLine(file: FileHandle, size: number): Promise<FileLine | undefined> {
  let tail: Buffer = Buffer.alloc(0);
  for (let start = size, step = BLOCK_BYTES; start > 0; step *= 2) {
    const from = Math.max(0, start - step);
    tail = Buffer.concat([await blockAt(file, from, start - from), tail]);
    start = from;
    const end = tail.lastIndexOf(LINE_FEED);
    if (end === -1) continue;
    const before = end === 0 ? -1 : tail.lastIndexOf(LINE_FEED, end - 1);
    if (before === -1 && start > 0) continue;
    const text = tail.subarray(before + 1, end).toString("utf8");
    return { text, start: start + before + 1, end: start + end + 1 };
  }
  return undefined;
}

/**
 * Yields the complete lines of a file of `size` bytes in reverse order. Omits a last line without a
 * line feed.
 */
export async function* linesFromEnd(
  file: FileHandle,
  size: number,
): AsyncGenerator<FileLine, void, void> {
  let tail: Buffer = Buffer.alloc(0);
  let start = size;
  /** Position in `tail` after the line feed of the next line. 0 until a line feed is found. */
  let stop = 0;
  for (let step = FIRST_STEP; ;) {
    stop ||= tail.lastIndexOf(LINE_FEED) + 1;
    const before = stop < 2 ? -1 : tail.lastIndexOf(LINE_FEED, stop - 2);
    if (stop > 0 && (before !== -1 || start === 0)) {
      const text = tail.subarray(before + 1, stop - 1).toString("utf8");
      yield { text, start: start + before + 1, end: start + stop };
      if (before === -1) return;
      stop = before + 1;
      tail = tail.subarray(0, stop);
      step = FIRST_STEP;
      continue;
    }
    if (start === 0) return;
    const from = Math.max(0, start - step);
    tail = Buffer.concat([await blockAt(file, from, start - from), tail]);
    if (stop > 0) stop += start - from;
    start = from;
    step *= 2; // a long line takes time in proportion to its length
  }
}

async function blockAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const block = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(block, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return block.subarray(0, filled);
}
