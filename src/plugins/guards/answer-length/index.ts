import type { Plugin } from "../../../contracts/plugin.js";
import { ValidationError } from "../../../contracts/errors.js";
import { requireInteger } from "../../../contracts/validation.js";
import {
  checkOutputOptions,
  outputGuard,
  type OutputGuardOptions,
  type OutputProblem,
} from "../shared/output-guard.js";
import { isLetterOrDigit, isSpace } from "../shared/characters.js";
import { SegmentFilter } from "../shared/stream-filter.js";

/** Options of {@link answerLength}. At least one limit is required. */
export interface AnswerLengthOptions extends OutputGuardOptions {
  readonly minCharacters?: number | undefined;
  readonly maxCharacters?: number | undefined;
  readonly minWords?: number | undefined;
  readonly maxWords?: number | undefined;
}

const LIMITS = ["minCharacters", "maxCharacters", "minWords", "maxWords"] as const;

/** Finds words in scripts without spaces. */
const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "word" });
const SPACELESS =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Khmer}\p{scx=Lao}]/u;

/** Counts the words of a text without spaces. */
function wordsIn(part: string): number {
  if (!SPACELESS.test(part)) return /[\p{L}\p{N}]/u.test(part) ? 1 : 0;
  let count = 0;
  for (const { isWordLike } of SEGMENTER.segment(part)) if (isWordLike === true) count++;
  return count;
}

const SPACE = 1;
const LETTER_OR_DIGIT = 2;
const BEYOND_ASCII = 3;
const KINDS = Uint8Array.from({ length: 128 }, (_, code) =>
  isSpace(code) ? SPACE : isLetterOrDigit(code) ? LETTER_OR_DIGIT : 0,
);

/**
 * Counts the last word of a text that arrives in pieces. The segmenter and the text are used only
 * for words with non-ASCII characters.
 */
class LastWord {
  #hasLetter = false;
  #isAscii = true;
  /** Upper bound of the number of words. Each word has at least one character. */
  #most = 0;
  #first = "";
  #start = 0;
  #end = 0;
  #rest = "";

  /** Adds characters that are not spaces. Returns the index after them. */
  extend(text: string, start: number): number {
    let at = start;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const kind = KINDS[code] ?? (isSpace(code) ? SPACE : BEYOND_ASCII);
      if (kind === SPACE) break;
      if (kind === LETTER_OR_DIGIT) this.#hasLetter = true;
      else if (kind === BEYOND_ASCII) this.#isAscii = false;
    }
    if (at === start) return at;
    if (this.#most === 0) {
      this.#first = text;
      this.#start = start;
      this.#end = at;
    } else this.#rest += text.slice(start, at);
    this.#most += at - start;
    return at;
  }

  get count(): number {
    if (this.#isAscii) return Number(this.#hasLetter);
    return (this.#most = wordsIn(this.#first.slice(this.#start, this.#end) + this.#rest));
  }

  /**
   * Returns whether there are more words than the limit. Counts only if this is possible, so that a
   * long text without spaces is rarely counted.
   */
  hasMoreThan(limit: number): boolean {
    if (limit < 0) return true;
    return (this.#isAscii ? 1 : this.#most) > limit && this.count > limit;
  }

  /** Returns the number of words, and starts a new word. */
  next(): number {
    if (this.#most === 0) return 0;
    const { count } = this;
    this.#hasLetter = false;
    this.#isAscii = true;
    this.#most = 0;
    this.#first = this.#rest = "";
    return count;
  }
}

/**
 * The length of a text that arrives in pieces. Words are separated by spaces, and each is counted
 * once.
 */
class GrowingLength {
  /** Number of characters without leading and trailing spaces. */
  characters = 0;
  #spaces = 0;
  #words = 0;
  readonly #last = new LastWord();

  add(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const end = this.#last.extend(text, at);
      if (end > at) {
        this.characters += this.#spaces + end - at;
        this.#spaces = 0;
      }
      at = end;
      if (at === text.length) break;
      this.#words += this.#last.next();
      if (this.characters > 0) this.#spaces++;
    }
  }

  /** Returns the number of words, after the last piece. */
  endWords(): number {
    return this.#words + this.#last.next();
  }

  hasMoreWordsThan(limit: number): boolean {
    return this.#last.hasMoreThan(limit - this.#words);
  }
}

function wordsOf(text: string): number {
  const length = new GrowingLength();
  length.add(text);
  return length.endWords();
}

/**
 * Refuses outputs that are too long or too short. A stream contains no character beyond the limit.
 * @throws ValidationError for an unknown option or contradicting limits.
 */
export function answerLength(options: AnswerLengthOptions): Plugin {
  checkOutputOptions("answerLength", options, LIMITS);
  for (const name of LIMITS) requireInteger(`answerLength ${name}`, options[name], 1);
  if (LIMITS.every((name) => options[name] === undefined))
    throw new ValidationError(`answerLength needs a limit: ${LIMITS.join(", ")}`);
  const {
    minCharacters = 0,
    maxCharacters = Infinity,
    minWords = 0,
    maxWords = Infinity,
  } = options;
  if (minCharacters > maxCharacters || minWords > maxWords)
    throw new ValidationError("answerLength has a minimum above its maximum");
  const countsWords = options.minWords !== undefined || options.maxWords !== undefined;
  const judge = (text: string): OutputProblem | undefined => {
    const { length } = text.trim();
    const words = countsWords ? wordsOf(text) : 0;
    const problem = (kind: string, is: string, limit: string): OutputProblem => ({
      kind,
      reason: `the text has ${is}; ${limit}`,
    });
    if (length > maxCharacters)
      return problem("too long", `${length} characters`, `at most ${maxCharacters} are allowed`);
    if (length < minCharacters)
      return problem("too short", `${length} characters`, `at least ${minCharacters} are needed`);
    if (words > maxWords)
      return problem("too long", `${words} words`, `at most ${maxWords} are allowed`);
    if (words < minWords)
      return problem("too short", `${words} words`, `at least ${minWords} are needed`);
    return undefined;
  };
  return outputGuard(options, {
    name: "guards-answer-length",
    judge,
    filter: () => {
      const length = new GrowingLength();
      return new SegmentFilter({
        quick: {
          decide(piece) {
            length.add(piece);
            const isTooLong =
              length.characters > maxCharacters || length.hasMoreWordsThan(maxWords);
            return isTooLong ? -1 : piece.length;
          },
        },
        release: () => undefined,
      });
    },
  });
}
