import type { FileHandle } from "node:fs/promises";
import { ValidationError } from "../../../contracts/errors.js";
import { FileFormatError } from "../../../contracts/state-errors.js";
import { checkLogHeader, HEADER_LINE, readRecord } from "./record.js";
import { ScopeTable } from "./scope-table.js";

const CHUNK_BYTES = 1 << 20;
const LINE_FEED = 10;

/** The content of a file, and how much of it is valid. */
export interface ReadWriteLog {
  readonly table: ScopeTable;
  /** Number of bytes up to the end of the last complete record. */
  readonly size: number;
  /**
   * The beginning of a record whose write was interrupted by a crash. Its caller never received a
   * success.
   */
  readonly torn: Buffer | undefined;
  /** Whether the last record has no line feed, which means that the file was edited. */
  readonly unended: boolean;
}

/** Reads lines into a table. An invalid line ends the reading. */
class LineReader {
  readonly table = new ScopeTable();
  readonly #path: string;
  #line = 0;

  constructor(path: string) {
    this.#path = path;
  }

  read(line: Buffer): void {
    this.#line++;
    try {
      if (this.#line === 1) checkLogHeader(parseRecord(line));
      else if (line.length > 0)
        this.table.apply(readRecord(parseRecord(line), line.length + 1, this.table));
    } catch (error) {
      throw ValidationError.isInstance(error) ? this.#formatError(error) : error;
    }
  }

  #formatError(cause: ValidationError): FileFormatError {
    const [path, line] = [this.#path, this.#line];
    const isForeign = line === 1;
    const hint = isForeign
      ? "Give the store its own path; the file was not changed"
      : `Put back a copy of the file, or delete line ${line} to continue without its contents; the file was not changed`;
    return new FileFormatError(
      isForeign ? `${path} ${cause.message}` : `Line ${line} of ${path} ${cause.message}`,
      { path, line },
      { cause, hint },
    );
  }
}

/**
 * Parses a line. Returns `undefined` for invalid JSON or UTF-8, so that the checks report what is
 * missing. The parser's own message would reveal the file's content.
 */
function parseRecord(line: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  } catch {
    return undefined;
  }
}

/**
 * Reads a file in chunks, so that the event loop is not blocked.
 * @throws FileFormatError for a file of another kind, and for an invalid record. An incomplete
 * record at the end of the file, where a write was interrupted, is no error.
 */
export async function readWriteLog(file: FileHandle, path: string): Promise<ReadWriteLog> {
  const reader = new LineReader(path);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest: Buffer = Buffer.alloc(0);
  let size = 0;
  for (let position = 0; ;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return ending(reader, size, rest);
    position += bytesRead;
    rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let start = 0;
    for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED, start)) {
      reader.read(rest.subarray(start, end));
      start = end + 1;
    }
    size += start;
    rest = rest.subarray(start);
    // without a header the file is rejected before it is read completely
    if (size === 0 && rest.length >= CHUNK_BYTES) reader.read(rest.subarray(0, 1));
  }
}

/**
 * Handles the bytes after the last line feed. A partial record is never valid, because its last
 * bracket is missing.
 */
function ending(reader: LineReader, size: number, rest: Buffer): ReadWriteLog {
  const { table } = reader;
  const isTorn =
    size === 0 ? HEADER_LINE.startsWith(rest.toString("latin1")) : parseRecord(rest) === undefined;
  if (rest.length === 0) return { table, size, torn: undefined, unended: false };
  if (isTorn) return { table, size, torn: rest, unended: false };
  reader.read(rest);
  return { table, size: size + rest.length, torn: undefined, unended: true };
}
