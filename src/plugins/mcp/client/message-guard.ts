import { JsonScanner } from "../../../util/json/scanner.js";

/** Deeper documents overflow the stack of whoever walks them. */
const DEEPEST = 200;
/** Objects, lists and fields. Reading and checking more of them than this takes longer than the event loop may stand still. */
const MOST_PARTS = 50_000;

const NEWLINE = 10;
const RETURN = 13;

/** A server sent something that is not going to be read. */
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
  #bytes = 0;
  #scanner = new JsonScanner();
  #lineIsEmpty = true;

  constructor(maxBytes: number, unit: "line" | "event" | "body") {
    this.#maxBytes = maxBytes;
    this.#unit = unit;
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
    if (deepest > DEEPEST)
      throw new RefusedMessage(`a message is nested more than ${DEEPEST} levels deep`);
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
