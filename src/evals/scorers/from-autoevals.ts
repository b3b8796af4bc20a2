import type { Scorer, ScorerOptions } from "../scorer.js";
import type { Awaitable } from "../../contracts/types.js";
import { ScoreError } from "../../contracts/evaluation-errors.js";
import { checkOptions, requireFunction } from "../../contracts/validation.js";
import { asText } from "../../util/objects.js";
import { textOfOutput } from "../reports/output-text.js";
import { builtInScorer } from "./named-scorer.js";

/** A scorer of the package `autoevals`, or a function of the same form. */
export type AutoevalsScorer = (args: {
  readonly input: string;
  readonly output: string;
  readonly expected: string | undefined;
  readonly [option: string]: unknown;
}) => Awaitable<{
  readonly name: string;
  readonly score: number | null;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}>;

/**
 * Creates a scorer from a scorer of the package `autoevals`. That scorer receives `options`.
 * Scorers of that package that call models use the settings of the package. Their calls are not
 * counted here.
 */
export function fromAutoevals(
  scorer: AutoevalsScorer,
  options: ScorerOptions & {
    readonly options?: Readonly<Record<string, unknown>> | undefined;
  } = {},
): Scorer<unknown, unknown> {
  requireFunction("fromAutoevals() scorer", scorer ?? null);
  checkOptions("fromAutoevals()", options, ["name", "passAt", "options"]);
  const name = options.name ?? (scorer.name === "" ? "autoevals" : scorer.name);
  return builtInScorer("autoevals", { ...options, name }, ["options"], async (sample) => {
    const { expected } = sample;
    const found = await scorer({
      ...options.options,
      input: textOfOutput(sample.input),
      output: textOfOutput(sample.output),
      expected: expected === undefined ? undefined : textOfOutput(expected),
    });
    if (found.score === null || found.score === undefined)
      throw new ScoreError(asText(found.metadata?.["error"]) || "It returned no score", "score");
    const reason = asText(found.metadata?.["rationale"]);
    return {
      value: found.score,
      ...(reason !== "" && { reason }),
      ...(found.metadata !== undefined && { evidence: found.metadata }),
    };
  });
}
