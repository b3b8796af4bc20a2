import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ExecutionTrace } from "../../contracts/trace.js";
import type { Recording } from "./recording.js";
import { ValidationError } from "../../contracts/errors.js";
import { FileFormatError } from "../../contracts/state-errors.js";
import { lineOf } from "../../util/json/locate.js";
import { RECORDING_FORMAT } from "./recording-format.js";
import { RecordingReader } from "./read-recording.js";
import { readTrace } from "./read-trace.js";
import { messageOf } from "../../util/errors.js";

/** Number of characters to parse before the reader yields to other work. */
const PIECE_LENGTH = 1_000_000;

/** The source of a recording for a replay: a file of either kind, or a trace. It is read once. */
export class RecordingSource {
  #recording: Recording | undefined;

  constructor(readonly source: string | ExecutionTrace) {}

  /**
   * Reads in pieces, between which other work can continue.
   * @throws ValidationError for a file that can't be read; FileFormatError for invalid content.
   */
  async load(): Promise<Recording> {
    if (typeof this.source !== "string") return this.now();
    const path = this.source;
    const text = await readFile(path, "utf8").catch((error: unknown) => {
      throw unreadableRecording(path, error);
    });
    const pieces = piecesOf(path, withoutMark(text));
    for (;;) {
      const { done, value } = pieces.next();
      if (done === true) return (this.#recording ??= value);
      await nextTurn();
    }
  }

  /**
   * Reads synchronously, because the id of a streamed run is needed before the kernel has started.
   */
  now(): Recording {
    return (this.#recording ??= this.#read());
  }

  #read(): Recording {
    const { source } = this;
    if (typeof source !== "string") return readTrace(source, "the trace");
    let text: string;
    try {
      text = readFileSync(source, "utf8");
    } catch (error) {
      throw unreadableRecording(source, error);
    }
    const pieces = piecesOf(source, withoutMark(text));
    for (;;) {
      const { done, value } = pieces.next();
      if (done === true) return value;
    }
  }
}

function unreadableRecording(path: string, cause: unknown): ValidationError {
  return new ValidationError(`The recording '${path}' can't be read: ${messageOf(cause)}`, {
    cause,
    hint: "Name a file that recordTo(file) wrote.",
  });
}

/** Removes the byte order mark that some editors write. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, "");
}

/** Parses a text of either kind, and yields regularly. */
function* piecesOf(path: string, text: string): Generator<undefined, Recording> {
  const firstLine = text.slice(0, endOfLine(text, 0));
  if (!firstLine.includes(`"${RECORDING_FORMAT}"`))
    return readTrace(parseTrace(path, text), path, text);
  const reader = new RecordingReader(path);
  let yieldAt = PIECE_LENGTH;
  let line = 0;
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = endOfLine(text, start);
    line++;
    if (end > start) reader.add(text.slice(start, end), line, end === text.length);
    if (end > yieldAt) {
      yieldAt = end + PIECE_LENGTH;
      yield;
    }
  }
  return reader.recording;
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end < 0 ? text.length : end;
}

function parseTrace(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const line = lineOf(text);
    const why = text.trim() === "" ? "it is empty" : messageOf(cause);
    throw new FileFormatError(
      `${path}:${line} is neither a recording nor a trace: ${why}`,
      { path, line },
      { cause, hint: "Make one with recordTo(file), or save a trace of captureMode FULL." },
    );
  }
}
