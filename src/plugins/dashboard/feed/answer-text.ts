import { isSecretVariable } from "../../../util/redaction/secret-shapes.js";

/** What is held back of one unbroken word at most. Tokens and keys are shorter; pictures in an answer are not. */
const LONGEST_WORD = 16_384;

/** The length of the last word of printable ASCII characters. */
function lastWordLength(text: string): number {
  const least = Math.max(0, text.length - LONGEST_WORD);
  let start = text.length;
  while (start > least && isInWord(text.charCodeAt(start - 1))) start--;
  return text.length - start;
}

function isInWord(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

/**
 * How many characters of a growing text may be the beginning of a secret: its last unbroken word, and as much as the longest secret of several words that
 * the environment has.
 */
function heldBack(text: string, longestPhrase: number): number {
  return Math.max(lastWordLength(text), longestPhrase);
}

/** The length of the longest secret in the environment that is more than one unbroken word, as it may be spelled in JSON. */
export function longestSecretPhrase(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): number {
  const phrases = Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && isSecretVariable(name) && !/^[\x21-\x7e]*$/.test(value.trim())
      ? [encodeURIComponent(value.trim().replace(/[\ud800-\udfff]/gu, "?")).length]
      : [],
  );
  return Math.max(0, ...phrases);
}

/** The answer that a model is writing. */
export class AnswerText {
  /** Counts the answers of its task; readers that have another one begin again. */
  readonly answer: number;
  readonly #longestPhrase: number;
  #text = "";
  #shown: { readonly length: number; readonly text: string } = { length: 0, text: "" };

  constructor(answer: number, longestPhrase: number) {
    this.answer = answer;
    this.#longestPhrase = longestPhrase;
  }

  add(token: string): void {
    this.#text += token;
  }

  /** What may be shown of it so far. A secret of which a part is still to come is in none of it. */
  shown(redact: (text: string) => string): string {
    if (this.#shown.length !== this.#text.length) {
      const text = redact(this.#text);
      const end = Math.max(0, text.length - heldBack(this.#text, this.#longestPhrase));
      this.#shown = { length: this.#text.length, text: text.slice(0, end) };
    }
    return this.#shown.text;
  }
}
