import { AssertionError } from "node:assert";
import type { EvaluationResult } from "./evaluation-result.js";
import { ValidationError } from "../contracts/errors.js";
import { checkOptions, knownNames, preview, requireBoolean } from "../contracts/validation.js";
import { problemText } from "./reports/text-report.js";
import { casePasses, percent, reasonOfCase } from "./reports/report-values.js";

/** The conditions that `expectScore` checks. */
export interface ScoreExpectation {
  /** The minimum of the mean, from 0 to 1. */
  readonly atLeast?: number | undefined;
  /** The minimum of the lower bound of the mean's confidence interval, from 0 to 1. */
  readonly surelyAtLeast?: number | undefined;
  /** Whether the check fails if the scorer is worse than in the baseline. Default false. */
  readonly noRegression?: boolean | undefined;
}

const SHOWN_CASES = 5;

/**
 * Fails a test of any test runner if a score is lower than expected, or if the evaluation has
 * problems. Returns the result of the evaluation.
 *
 * @throws AssertionError with the cases that do not pass; ValidationError for an unknown scorer.
 *
 * @example await expectScore(evaluate({ ... }), "exact", { atLeast: 0.9 });
 */
export async function expectScore<In, Out>(
  evaluation: EvaluationResult<In, Out> | PromiseLike<EvaluationResult<In, Out>>,
  scorer: string,
  expected: ScoreExpectation,
): Promise<EvaluationResult<In, Out>> {
  checkOptions("expectScore()", expected, ["atLeast", "surelyAtLeast", "noRegression"]);
  const { atLeast, surelyAtLeast, noRegression } = expected;
  requireBoolean("expectScore() noRegression", noRegression);
  if (atLeast === undefined && surelyAtLeast === undefined && noRegression !== true)
    throw new ValidationError("expectScore() needs atLeast, surelyAtLeast or noRegression");
  const result = await evaluation;
  const names = result.scores.map((one) => one.scorer);
  const summary = result.scores.find((one) => one.scorer === scorer);
  if (summary === undefined)
    throw new ValidationError(
      `expectScore(): there is no scorer '${preview(scorer)}'. ${knownNames(scorer, names)}`,
    );
  const { mean, interval } = summary;
  const [problem] = result.problems;
  if (problem !== undefined)
    failAssertion(
      `${result.problemCount} problems, first: ${problemText(problem)}`,
      0,
      result.problemCount,
    );
  if (atLeast !== undefined && !(mean !== undefined && mean >= atLeast))
    failAssertion(`${scorer} is ${percent(mean)}${failedCases(result, scorer)}`, atLeast, mean);
  if (surelyAtLeast !== undefined && !(interval !== undefined && interval.low >= surelyAtLeast))
    failAssertion(
      `${scorer} is surely at least ${percent(interval?.low)} only${failedCases(result, scorer)}`,
      surelyAtLeast,
      interval?.low,
    );
  if (noRegression === true) checkRegression(result, scorer);
  return result;
}

function checkRegression({ comparison }: EvaluationResult, scorer: string): void {
  const compared = comparison?.scorers.find((one) => one.scorer === scorer);
  if (compared === undefined)
    throw new ValidationError(
      `expectScore() noRegression needs a baseline with the scorer '${preview(scorer)}'`,
    );
  if (compared.verdict === "worse")
    failAssertion(
      `${scorer} is worse than in the baseline, in ${compared.worse.slice(0, SHOWN_CASES).join(", ")}`,
      0,
      compared.difference,
    );
}

function failedCases(result: EvaluationResult, scorer: string): string {
  const failed = result.cases.filter((one) => casePasses(one) === false);
  const lines = failed
    .slice(0, SHOWN_CASES)
    .map((one) => `\n  ${one.id}: ${preview(reasonOfCase(one, scorer))}`);
  return lines.length === 0 ? "" : `. Cases that do not pass:${lines.join("")}`;
}

function failAssertion(message: string, expected: number, actual: number | undefined): never {
  throw new AssertionError({ message, expected, actual, operator: ">=" });
}
