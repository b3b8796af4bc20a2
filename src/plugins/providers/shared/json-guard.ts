import { BadAnswer } from "./bad-answer.js";

/** Deeper documents overflow the stack of whoever walks them. */
const DEEPEST = 500;
/** Parsing more objects, lists and fields than this in one go takes longer than the event loop may stand still (200 ms). */
const MOST_PARTS = 250_000;

const QUOTE = 34;
const COLON = 58;
const BACKSLASH = 92;

/** Looks at JSON before it is parsed, piece by piece as it comes: how deep it is and of how many parts. Knows nothing else of its syntax. */
export class JsonGuard {
  #depth = 0;
  #parts = 0;
  #inString = false;
  #escaped = false;

  /** @throws BadAnswer when the document has become too deep, or of too many parts. */
  scan(text: string): void {
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (code === BACKSLASH) this.#escaped = true;
        else if (code === QUOTE) this.#inString = false;
      } else if (code === QUOTE) this.#inString = true;
      else if (code === COLON) this.#parts++;
      else if ((code | 32) === 123) this.#open(); // [ and {
      else if ((code | 32) === 125) this.#depth--; // ] and }
    }
    if (this.#parts > MOST_PARTS) throw new BadAnswer(`The answer consists of more than ${MOST_PARTS} objects, lists and fields`);
  }

  #open(): void {
    this.#parts++;
    this.#depth++;
    if (this.#depth > DEEPEST) throw new BadAnswer(`The answer is nested more than ${DEEPEST} levels deep`);
  }
}

/** A text this short cannot be too deep. */
const SHORT = DEEPEST;

/** Parses a JSON text that a JsonGuard has seen. @throws BadAnswer for what is no JSON. */
export function parseScanned(text: string, what: string): unknown {
  if (text.trim() === "") throw new BadAnswer(`${what} is empty`);
  try {
    return JSON.parse(text);
  } catch {
    const isPage = text.trimStart().startsWith("<");
    if (isPage) throw new BadAnswer(`${what} is a web page instead of JSON`, { shown: text, hint: "Check baseURL." });
    throw new BadAnswer(`${what} is not valid JSON`, { shown: text });
  }
}

/** Parses a JSON text of a size that was limited before. @throws BadAnswer for what is no JSON, or too deep. */
export function parseGuarded(text: string, what: string): unknown {
  if (text.length > SHORT) new JsonGuard().scan(text);
  return parseScanned(text, what);
}
