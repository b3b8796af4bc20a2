/** Deeper documents overflow the stack of whoever walks them. */
const DEEPEST = 200;
/** Objects, lists and fields. Reading and checking more of them than this takes longer than the event loop may stand still. */
const MOST_PARTS = 50_000;

const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;

/** A server sent something that is not going to be read. */
export class RefusedMessage extends Error {
  constructor(message: string) {
    super(message);
    this.name = "RefusedMessage";
  }
}

/**
 * Looks at the bytes of JSON messages before anybody keeps or parses them: how long, how deep, how many parts. Knows nothing else of the syntax.
 * Messages end at a line break (`"line"`), at an empty line (`"event"`, server-sent events), or with the body (`"body"`).
 */
export class MessageGuard {
  readonly #maxBytes: number;
  readonly #unit: "line" | "event" | "body";
  #bytes = 0;
  #depth = 0;
  #parts = 0;
  #inString = false;
  #escaped = false;
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
        this.#look(byte);
      }
    }
    if (this.#bytes > this.#maxBytes) throw new RefusedMessage(`a message is larger than ${this.#maxBytes} bytes`);
    if (this.#parts > MOST_PARTS) throw new RefusedMessage(`a message has more than ${MOST_PARTS} parts`);
  }

  #look(byte: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) this.#inString = false;
    } else if (byte === QUOTE) this.#inString = true;
    else if (byte === COMMA || byte === COLON) this.#parts++;
    else if ((byte | 32) === 123)
      this.#open(); // [ and {
    else if ((byte | 32) === 125) this.#depth--; // ] and }
  }

  #open(): void {
    this.#parts++;
    this.#depth++;
    if (this.#depth > DEEPEST) throw new RefusedMessage(`a message is nested more than ${DEEPEST} levels deep`);
  }

  /** A line break can't stand in a JSON string, so whatever was open is over. */
  #endLine(): void {
    if (this.#unit === "event" && !this.#lineIsEmpty) {
      this.#lineIsEmpty = true;
      return;
    }
    [this.#bytes, this.#depth, this.#parts, this.#inString, this.#escaped, this.#lineIsEmpty] = [0, 0, 0, false, false, true];
  }
}
