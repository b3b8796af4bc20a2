import { JsonScanner } from "../../../util/json/scanner.js";

/** Maximum depth of documents. Recursive code would overflow the stack on deeper documents. */
const DEEPEST = 200;
/**
 * Maximum number of objects, lists, items and fields of a message. Parsing and checking more would
 * block the event loop for too long.
 */
export const MOST_PARTS = 50_000;

const NEWLINE = 10;
const RETURN = 13;

/** The error for a message that exceeds a limit and is not read. */
export class RefusedMessage extends Error {
  constructor(message: string) {
    super(message);
    this.name = "RefusedMessage";
  }
}

/**
 * Checks the bytes of JSON messages before they are buffered or parsed: size, depth and number of
 * parts. Messages end at a line break (`"line"`), at an empty line (`"event"`, server-sent events),
 * or with the body (`"body"`).
 */
export class MessageGuard {
  readonly #maxBytes: number;
  readonly #unit: "line" | "event" | "body";
  readonly #deepest: number;
  #bytes = 0;
  #scanner = new JsonScanner();
  #lineIsEmpty = true;

  /** @param deepest maximum nesting of objects and lists. Default 200. */
  constructor(maxBytes: number, unit: "line" | "event" | "body", deepest = DEEPEST) {
    this.#maxBytes = maxBytes;
    this.#unit = unit;
    this.#deepest = deepest;
  }

  /** @throws RefusedMessage when a message exceeds a limit */
  scan(chunk: Uint8Array): void {
    for (const byte of chunk) {
      this.#bytes++;
      if (byte === NEWLINE && this.#unit !== "body") this.#endLine();
      else {
        if (byte !== RETURN) this.#lineIsEmpty = false;
        this.#scanner.scan(byte);
      }
    }
    this.#check();
  }

  #check(): void {
    const { deepest, opened, colons, commas } = this.#scanner;
    if (deepest > this.#deepest)
      throw new RefusedMessage(`a message is nested more than ${this.#deepest} levels deep`);
    if (this.#bytes > this.#maxBytes)
      throw new RefusedMessage(`a message is larger than ${this.#maxBytes} bytes`);
    if (opened + colons + commas > MOST_PARTS)
      throw new RefusedMessage(`a message has more than ${MOST_PARTS} parts`);
  }

  /** A line break can't be part of a JSON string, so a line end also ends an open string. */
  #endLine(): void {
    if (this.#unit === "event" && !this.#lineIsEmpty) {
      this.#lineIsEmpty = true;
      return;
    }
    this.#check(); // also if the whole message arrived in one chunk
    [this.#bytes, this.#scanner, this.#lineIsEmpty] = [0, new JsonScanner(), true];
  }
}
