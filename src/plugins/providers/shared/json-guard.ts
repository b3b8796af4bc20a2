import { BadAnswer } from "./bad-answer.js";

/** Deeper documents overflow the stack of whoever walks them. */
const DEEPEST = 500;
/**
 * Parsing more than this in one go takes longer than the event loop may stand still (200 ms). Measured: an object, a list or a field takes
 * about twenty times as long as another element of a list.
 */
const MOST_WORK = 5_000_000;
const PART_WORK = 20;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;

/** Looks at JSON before it is parsed, piece by piece as it comes: how deep it is and how much work it would be. Knows nothing else of its syntax. */
export class JsonGuard {
  #depth = 0;
  #work = 0;
  #inString = false;
  #escaped = false;

  /** @throws BadAnswer when the document has become too deep, or too much. */
  scan(text: string): void {
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (code === BACKSLASH) this.#escaped = true;
        else if (code === QUOTE) this.#inString = false;
      } else if (code === QUOTE) this.#inString = true;
      else if (code === COMMA) this.#work++;
      else if (code === COLON) this.#work += PART_WORK;
      else if ((code | 32) === 123)
        this.#open(); // [ and {
      else if ((code | 32) === 125) this.#depth--; // ] and }
    }
    if (this.#work > MOST_WORK)
      throw new BadAnswer(`The answer has too many parts: more than ${MOST_WORK / PART_WORK} objects, lists and fields, or ${MOST_WORK} elements`);
  }

  #open(): void {
    this.#work += PART_WORK;
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
