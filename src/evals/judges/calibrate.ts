import type { EvaluationCase } from "../evaluation-case.js";
import type { EvaluationSettings } from "../evaluation-options.js";
import type { EvaluationProblem, Interval } from "../evaluation-result.js";
import type { Scorer } from "../scorer.js";
import type { EvaluationSpending } from "../trial-way.js";
import { ValidationError } from "../../contracts/errors.js";
import { checkOptions, preview, requireArray } from "../../contracts/validation.js";
import { evaluate } from "../evaluate.js";
import { meanInterval, meanOf } from "../statistics/intervals.js";

/** An output labelled by a person. */
export interface LabelledSample<In = unknown, Out = unknown> {
  readonly id?: string | undefined;
  readonly input: In;
  readonly output: Out;
  readonly expected?: Out | undefined;
  readonly metadata?: EvaluationCase["metadata"];
  /** Whether the person accepts the output, or the person's score from 0 to 1. */
  readonly label: boolean | number;
}

/** Options of `calibrate`. */
export interface CalibrateOptions<In, Out> extends Pick<
  EvaluationSettings,
  | "model"
  | "embeddingModel"
  | "plugins"
  | "concurrency"
  | "seed"
  | "confidence"
  | "scorerTimeoutMs"
  | "signal"
> {
  readonly scorer: Scorer<In, Out>;
  readonly samples: readonly LabelledSample<In, Out>[];
}

/** The agreement of a scorer with people. */
export interface Calibration {
  /** Number of samples with a score. */
  readonly samples: number;
  /** The fraction of samples for which scorer and person agree on pass or fail. */
  readonly agreement: number;
  readonly interval: Interval;
  /**
   * Cohen's kappa: the agreement beyond chance, at most 1. Absent if it is undefined because all
   * results are equal.
   */
  readonly kappa?: number | undefined;
  /** Numbers of samples by the results of the scorer and the person. */
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly falseNegatives: number;
  readonly trueNegatives: number;
  readonly precision?: number | undefined;
  readonly recall?: number | undefined;
  /** The mean distance between scores and labels. */
  readonly meanError: number;
  /** The samples for which the results differ. */
  readonly disagreements: readonly {
    readonly id: string;
    readonly label: number;
    readonly score: number;
    readonly reason?: string | undefined;
  }[];
  readonly problems: readonly EvaluationProblem[];
  readonly spending: EvaluationSpending;
}

/**
 * Measures the agreement of a scorer, usually a judge, with labels of people. Both labels and
 * scores pass if they reach `passAt` of the scorer.
 *
 * @throws ValidationError; DatasetError if there is no sample.
 */
export async function calibrate<In, Out>(options: CalibrateOptions<In, Out>): Promise<Calibration> {
  const { scorer, samples, seed = 1, confidence = 0.95, ...others } = options;
  checkOptions("calibrate()", others, [
    ...["model", "embeddingModel", "plugins", "concurrency", "scorerTimeoutMs", "signal"],
  ]);
  requireArray("calibrate() samples", samples ?? null);
  const labels = samples.map(({ label }, i) => labelOf(label, i));
  const outputs = samples.map(({ output }) => output);
  const dataset = samples.map(({ label: _label, output: _output, input, ...one }, i) => ({
    ...one,
    input: { input, position: i },
  }));
  const judged: Scorer<{ readonly input: In; readonly position: number }, Out> = Object.assign(
    ((sample, context) =>
      scorer(
        {
          ...sample,
          input: sample.input.input,
          case: { ...sample.case, input: sample.input.input },
        },
        context,
      )) as Scorer<{ readonly input: In; readonly position: number }, Out>,
    { passAt: scorer.passAt },
  );
  Object.defineProperty(judged, "name", { value: scorer.name });
  const result = await evaluate({
    ...{ ...others, seed, confidence, dataset, scorers: [judged] },
    name: `calibration of ${scorer.name}`,
    target: ({ position }: { readonly input: In; readonly position: number }) =>
      outputs[position] as Out, // of this sample
    keepCases: samples.length,
  });
  const passAt = scorer.passAt ?? 1;
  const pairs = result.cases.flatMap(({ id, input, trials }) => {
    const score = trials[0]?.scores[scorer.name];
    if (score?.value === undefined) return [];
    const { reason, value } = score;
    // The label of this sample.
    return [{ id, label: labels[input.position] as number, score: value, reason }];
  });
  const spending = result.spending.judges;
  return {
    ...agreementOf(pairs, passAt, { seed, confidence }),
    problems: result.problems,
    spending,
  };
}

function labelOf(label: unknown, position: number): number {
  const value = typeof label === "boolean" ? Number(label) : label;
  if (typeof value === "number" && value >= 0 && value <= 1) return value;
  throw new ValidationError(
    `calibrate() samples[${position}] label must be true, false or a number from 0 to 1, got: ${preview(label)}`,
  );
}

interface LabelledScore {
  readonly id: string;
  readonly label: number;
  readonly score: number;
  readonly reason: string | undefined;
}

/** Computes the agreement from pairs of a label and a score. */
export function agreementOf(
  pairs: readonly LabelledScore[],
  passAt: number,
  settings: { readonly seed: number; readonly confidence: number },
): Omit<Calibration, "problems" | "spending"> {
  const passes = ({ label, score }: LabelledScore): readonly [boolean, boolean] => [
    label >= passAt,
    score >= passAt,
  ];
  const count = (wanted: boolean, found: boolean): number =>
    pairs.filter((pair) => {
      const [person, scorer] = passes(pair);
      return person === wanted && scorer === found;
    }).length;
  const n = Math.max(1, pairs.length);
  const cells = {
    truePositives: count(true, true),
    falsePositives: count(false, true),
    falseNegatives: count(true, false),
    trueNegatives: count(false, false),
  };
  const { truePositives: tp, falsePositives: fp, falseNegatives: fn, trueNegatives: tn } = cells;
  const same = Float64Array.from(pairs, (pair) => Number(passes(pair)[0] === passes(pair)[1]));
  const agreement = meanOf(same);
  const chance = ((tp + fn) * (tp + fp) + (fp + tn) * (fn + tn)) / n ** 2;
  return {
    samples: pairs.length,
    agreement,
    interval: meanInterval(same, { ...settings, range: [0, 1] }),
    ...(chance < 1 && pairs.length > 0 && { kappa: (agreement - chance) / (1 - chance) }),
    ...cells,
    ...(tp + fp > 0 && { precision: tp / (tp + fp) }),
    ...(tp + fn > 0 && { recall: tp / (tp + fn) }),
    meanError: pairs.reduce((sum, { label, score }) => sum + Math.abs(label - score), 0) / n,
    disagreements: pairs
      .filter((pair) => passes(pair)[0] !== passes(pair)[1])
      .map(({ id, label, score, reason }) => ({
        id,
        label,
        score,
        ...(reason !== undefined && { reason }),
      })),
  };
}
