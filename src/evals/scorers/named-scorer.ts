import type { Sample, Scorer, ScorerContext, ScorerOptions, ScoreValue } from "../scorer.js";
import type { Awaitable } from "../../contracts/types.js";
import { ValidationError } from "../../contracts/errors.js";
import { checkOptions, preview, requireFunction, requireText } from "../../contracts/validation.js";

/**
 * Creates a named scorer from a function, and sets the minimum value that passes.
 * @throws ValidationError for a blank name, and a `passAt` that is not above 0 and at most 1.
 * @example scorer("politeness", ({ output }) => output.includes("please"))
 */
export function scorer<In = unknown, Out = unknown>(
  name: string,
  score: (sample: Sample<In, Out>, context: ScorerContext) => Awaitable<ScoreValue>,
  options: Pick<ScorerOptions, "passAt"> = {},
): Scorer<In, Out> {
  requireText(name, `The name of a scorer must be a text, got: ${preview(name)}`);
  requireFunction(`The scorer '${name}'`, score ?? null);
  checkOptions(`scorer '${name}'`, options, ["passAt"]);
  const { passAt } = options;
  if (passAt !== undefined && !(typeof passAt === "number" && passAt > 0 && passAt <= 1))
    throw new ValidationError(
      `passAt of the scorer '${name}' must be above 0 and at most 1, got: ${preview(passAt)}`,
    );
  const named = (sample: Sample<In, Out>, context: ScorerContext): Awaitable<ScoreValue> =>
    score(sample, context);
  Object.defineProperty(named, "name", { value: name });
  return Object.freeze(Object.assign(named, passAt === undefined ? {} : { passAt }));
}

/**
 * Creates a scorer of a built-in kind. Checks the names of the options. Applies the defaults of
 * name and `passAt`.
 */
export function builtInScorer<In = unknown, Out = unknown>(
  kind: string,
  options: ScorerOptions,
  others: readonly string[],
  score: (sample: Sample<In, Out>, context: ScorerContext) => Awaitable<ScoreValue>,
): Scorer<In, Out> {
  checkOptions(kind, options, ["name", "passAt", ...others]);
  const { name = kind, passAt } = options;
  return scorer(name, score, { ...(passAt !== undefined && { passAt }) });
}
