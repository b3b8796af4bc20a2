import { JsonScanner } from "../../../util/json/scanner.js";

/** Deeper documents overflow the stack of whoever walks them. */
const DEEPEST = 200;
/** Objects, lists, items and fields of a message. Parsing and checking more of them blocks the event loop for too long. */
export const MOST_PARTS = 50_000;

const NEWLINE = 10;
const RETURN = 13;

/** Reports a message that exceeds a limit and is not read. */
export class RefusedMessage extends Error {
  constructor(message: string) {
    super(message);
    this.name = "RefusedMessage";
  }
}

/**
 * Looks at the bytes of JSON messages before anybody keeps or parses them: how long, how deep, how many parts.
 * Messages end at a line break (`"line"`), at an empty line (`"event"`, server-sent events), or with the body (`"body"`).
 */
export class MessageGuard {
  readonly #maxBytes: number;
  readonly #unit: "line" | "event" | "body";
  readonly #deepest: number;
  #bytes = 0;
  #scanner = new JsonScanner();
  #lineIsEmpty = true;

  /** @param deepest levels of objects and lists. Default 200. */
  constructor(maxBytes: number, unit: "line" | "event" | "body", deepest = DEEPEST) {
    this.#maxBytes = maxBytes;
    this.#unit = unit;
    this.#deepest = deepest;
  }

  /** @throws RefusedMessage when a message has become too much. */
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

  /** A line break can't stand in a JSON string, so whatever was open is over. */
  #endLine(): void {
    if (this.#unit === "event" && !this.#lineIsEmpty) {
      this.#lineIsEmpty = true;
      return;
    }
    this.#check(); // also where all of it came in one piece
    [this.#bytes, this.#scanner, this.#lineIsEmpty] = [0, new JsonScanner(), true];
  }
}
