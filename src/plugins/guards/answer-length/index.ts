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
import { lastWordAt, SegmentFilter } from "../shared/stream-filter.js";

/** Options of {@link answerLength}. At least one limit is needed. */
export interface AnswerLengthOptions extends OutputGuardOptions {
  readonly minCharacters?: number | undefined;
  readonly maxCharacters?: number | undefined;
  readonly minWords?: number | undefined;
  readonly maxWords?: number | undefined;
}

const LIMITS = ["minCharacters", "maxCharacters", "minWords", "maxWords"] as const;

/** Counts words as people do, in scripts without spaces. */
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

/** Words between spaces, so that the count of a text is the sum of those of its parts. Only words beyond ASCII need expressions. */
function wordCount(text: string): number {
  let count = 0;
  let start = 0;
  let isAscii = true;
  let isWord = false;
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : 32;
    if (isSpace(code)) {
      if (at > start) count += isAscii ? Number(isWord) : wordsIn(text.slice(start, at));
      start = at + 1;
      isAscii = true;
      isWord = false;
    } else if (code >= 128) isAscii = false;
    else isWord ||= isLetterOrDigit(code);
  }
  return count;
}

/** The length of a text that arrives in pieces. */
class GrowingLength {
  characters = 0;
  #words = 0;
  /** Text whose words are not counted yet. */
  #uncounted = "";
  /** Upper bound of the number of words: each word has at least one character. */
  #mostWords = 0;
  #spaces = 0;

  /** Leading and trailing spaces do not count. */
  add(text: string): void {
    this.#uncounted += text;
    this.#mostWords += text.length;
    let end = text.length;
    while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
    if (end > 0) {
      const begun = this.characters === 0 ? text.trimStart().length - text.length + end : end;
      this.characters += this.#spaces + begun;
      this.#spaces = 0;
    }
    if (this.characters > 0) this.#spaces += text.length - end;
  }

  /** Counts only if the text could have more words, so that a long text is rarely counted. */
  hasMoreWordsThan(limit: number): boolean {
    if (this.#mostWords <= limit) return false;
    const lastWord = lastWordAt(this.#uncounted); // the last word may continue
    this.#words += wordCount(this.#uncounted.slice(0, lastWord));
    this.#uncounted = this.#uncounted.slice(lastWord);
    this.#mostWords = this.#words + wordCount(this.#uncounted);
    return this.#mostWords > limit;
  }
}

/**
 * Refuses outputs that are too long or too short. A stream shows no character beyond the limit.
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
    const words = countsWords ? wordCount(text) : 0;
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
        holdFrom: (text) => text.length,
        release(text) {
          length.add(text);
          const isTooLong = length.characters > maxCharacters || length.hasMoreWordsThan(maxWords);
          return isTooLong ? undefined : text;
        },
      });
    },
  });
}
