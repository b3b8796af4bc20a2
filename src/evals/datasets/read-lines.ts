import { createReadStream } from "node:fs";
import { ValidationError } from "../../contracts/errors.js";
import { preview } from "../../contracts/validation.js";
import { messageOf } from "../../util/errors.js";

const LINE_FEED = 10;

/** A line of a text file, counted from 1. */
export interface NumberedLine {
  readonly text: string;
  readonly line: number;
}

/**
 * Yields the lines of a file as they are read. Only line feeds end a line: JSON may contain the
 * other separators of Unicode.
 * @throws ValidationError for a file that can't be read.
 */
export async function* datasetLines(path: string): AsyncGenerator<NumberedLine, void, void> {
  let parts: Buffer[] = [];
  let line = 0;
  for await (const chunk of datasetBytes(path)) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      parts.push(chunk.subarray(start, end));
      yield { text: textOfLine(parts, line), line: ++line };
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length > 0) yield { text: textOfLine(parts, line), line: line + 1 };
}

/** Yields the bytes of a file in pieces. @throws ValidationError for a file that can't be read. */
export async function* datasetBytes(path: string): AsyncGenerator<Buffer, void, void> {
  try {
    for await (const chunk of createReadStream(path)) yield chunk as Buffer; // without an encoding
  } catch (cause) {
    throw new ValidationError(`Can't read the dataset '${preview(path)}': ${messageOf(cause)}`, {
      cause,
      hint: "Paths are relative to the current folder.",
    });
  }
}

function textOfLine(parts: readonly Buffer[], line: number): string {
  const [only] = parts;
  const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
  const text = bytes.toString("utf8").replace(/\r$/, "");
  return line === 0 ? text.replace(/^\uFEFF/, "") : text;
}
