import { JsonScanner } from "../../../util/json/scanner.js";
import { InvalidResponseError } from "./invalid-response-error.js";

/** Maximum depth. Recursive code would overflow the stack on deeper documents. */
const DEEPEST = 500;
/**
 * Maximum work. Parsing more at once would block the event loop for more than 200 ms. By
 * measurement, an object, a list or a field takes about twenty times as long as another list
 * element.
 */
const MOST_WORK = 5_000_000;
const PART_WORK = 20;

/** Checks JSON before it is parsed, chunk by chunk: its depth and the work for parsing it. */
export class JsonGuard {
  readonly #scanner = new JsonScanner();

  /** @throws InvalidResponseError if the document is too deep or too large */
  scan(text: string): void {
    const scanner = this.#scanner;
    for (let index = 0; index < text.length; index++) scanner.scan(text.charCodeAt(index));
    const { deepest, commas, colons, opened } = scanner;
    if (deepest > DEEPEST)
      throw new InvalidResponseError(`The answer is nested more than ${DEEPEST} levels deep`);
    if (commas + PART_WORK * (colons + opened) > MOST_WORK)
      throw new InvalidResponseError(
        `The answer has too many parts: more than ${MOST_WORK / PART_WORK} objects, lists and fields, or ${MOST_WORK} elements`,
      );
  }
}

/** A text of at most this length can't be too deep. */
const SHORT = DEEPEST;

/**
 * Parses a JSON text that a JsonGuard has checked.
 * @throws InvalidResponseError for invalid JSON
 */
export function parseScanned(text: string, what: string): unknown {
  if (text.trim() === "") throw new InvalidResponseError(`${what} is empty`);
  try {
    return JSON.parse(text);
  } catch {
    const isPage = text.trimStart().startsWith("<");
    if (isPage)
      throw new InvalidResponseError(`${what} is a web page instead of JSON`, {
        shown: text,
        hint: "Check baseURL.",
      });
    throw new InvalidResponseError(`${what} is not valid JSON`, { shown: text });
  }
}

/**
 * Parses a JSON text whose size was limited before.
 * @throws InvalidResponseError for invalid JSON, or JSON that is too deep
 */
export function parseGuarded(text: string, what: string): unknown {
  if (text.length > SHORT) new JsonGuard().scan(text);
  return parseScanned(text, what);
}
