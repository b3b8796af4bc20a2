import type { Plugin } from "../../../contracts/plugin.js";
import { ValidationError } from "../../../contracts/errors.js";
import { requireInteger } from "../../../contracts/validation.js";
import {
  checkOutputOptions,
  outputGuard,
  type OutputGuardOptions,
  type OutputProblem,
} from "../shared/output-guard.js";
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

/** Words between spaces, so that the count of a text is the sum of those of its parts. */
function wordCount(text: string): number {
  let count = 0;
  for (const [part] of text.matchAll(/\S+/g))
    if (SPACELESS.test(part)) {
      for (const { isWordLike } of SEGMENTER.segment(part)) if (isWordLike === true) count++;
    } else if (/[\p{L}\p{N}]/u.test(part)) count++;
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
    const inner = text.trimEnd();
    if (inner !== "") {
      const begun = this.characters === 0 ? inner.trimStart() : inner;
      this.characters += this.#spaces + begun.length;
      this.#spaces = 0;
    }
    if (this.characters > 0) this.#spaces += text.length - inner.length;
    this.#uncounted += text;
    this.#mostWords += text.length;
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
