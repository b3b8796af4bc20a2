import { isSecretVariable } from "../../../util/redaction/secret-shapes.js";

/**
 * Maximum number of characters of one unbroken word that are held back. Tokens and keys are
 * shorter. Images in an answer are longer.
 */
const LONGEST_WORD = 16_384;

/**
 * The growth after which a long text is redacted again, as a fraction. The cost of a redaction
 * grows with the text.
 */
const GROWTH = 1 / 1_024;

/** Returns the length of the last word of printable ASCII characters. */
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
 * Returns the number of characters at the end of a growing text that may begin a secret. These are
 * its last unbroken word, and the length of the longest secret of several words.
 */
function heldBack(text: string, longestPhrase: number): number {
  return Math.max(lastWordLength(text), longestPhrase);
}

/**
 * Returns the length of the longest secret in the environment that has several words, with JSON
 * escapes.
 */
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
  /** Counts the answers of the task. Readers with another number start again. */
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

  /** Returns the part that may be shown. It contains no part of an incomplete secret. */
  shown(redact: (text: string) => string): string {
    const { length } = this.#text;
    if (length - this.#shown.length > this.#shown.length * GROWTH) {
      const text = redact(this.#text);
      const end = Math.max(0, text.length - heldBack(this.#text, this.#longestPhrase));
      this.#shown = { length, text: text.slice(0, end) };
    }
    return this.#shown.text;
  }
}
