import type { Plugin } from "../../../contracts/plugin.js";
import { ValidationError } from "../../../contracts/errors.js";
import { requireInteger } from "../../../contracts/validation.js";
import {
  checkOutputOptions,
  outputGuard,
  type OutputGuardOptions,
  type OutputProblem,
} from "../shared/output-guard.js";
import { PrefixFilter } from "../shared/stream-filter.js";

/** Options of {@link answerLength}. At least one limit is needed. */
export interface AnswerLengthOptions extends OutputGuardOptions {
  readonly minCharacters?: number | undefined;
  readonly maxCharacters?: number | undefined;
  readonly minWords?: number | undefined;
  readonly maxWords?: number | undefined;
}

const LIMITS = ["minCharacters", "maxCharacters", "minWords", "maxWords"] as const;

/** Counts words as people do, in scripts without spaces too. */
const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "word" });
const SPACELESS =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Khmer}\p{scx=Lao}]/u;

function wordCount(text: string): number {
  if (!SPACELESS.test(text)) return text.match(/[^\s]*[\p{L}\p{N}][^\s]*/gu)?.length ?? 0;
  let count = 0;
  for (const { isWordLike } of SEGMENTER.segment(text)) if (isWordLike === true) count++;
  return count;
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
    filter: () =>
      new PrefixFilter((text) =>
        text.length > maxCharacters || (maxWords < Infinity && wordCount(text) > maxWords)
          ? 0
          : text.length,
      ),
  });
}
