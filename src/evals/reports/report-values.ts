import type {
  CaseResult,
  EvaluationResult,
  ScoreSummary,
  TrialResult,
} from "../evaluation-result.js";
import { changesText } from "../datasets/dataset-difference.js";
import { addSpending } from "../way-of-runs.js";

/** Formats `0.8333` as `83.3 %`. Returns `-` without a value. */
export function percent(value: number | undefined): string {
  return value === undefined ? "-" : `${(value * 100).toFixed(1)} %`;
}

/** Formats a difference with its sign. */
export function signedPercent(value: number): string {
  return `${value > 0 ? "+" : ""}${(value * 100).toFixed(1)} %`;
}

/** Formats a p-value. */
export function probability(p: number): string {
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

/** Formats the interval of a score: `71.2 % to 90.1 %`. */
export function intervalText(interval: ScoreSummary["interval"]): string {
  return interval === undefined ? "-" : `${percent(interval.low)} to ${percent(interval.high)}`;
}

/** Returns the head of all reports, as pairs of a name and a text. */
export function headLines(result: EvaluationResult): readonly (readonly [string, string])[] {
  const { dataset, spending, status, trials, problemCount } = result;
  const chosen = dataset.selected < dataset.cases ? `${dataset.selected} of ` : "";
  const { cost, recordedCost } = addSpending(spending.target, spending.judges);
  const { target, judges } = spending;
  const tokens = target.inputTokens + target.outputTokens;
  return [
    [
      "dataset",
      `${chosen}${dataset.cases} cases${dataset.name === undefined ? "" : ` of ${dataset.name}`}, version ${dataset.hash.slice(0, 12)}`,
    ],
    ["trials", `${trials} for each case, seed ${result.seed}`],
    [
      "calls",
      `${target.calls} by the target, ${judges.calls} by judges, ${target.answered + judges.answered} answered without a call; ${tokens} tokens of the target`,
    ],
    ...(cost === undefined && recordedCost === undefined
      ? []
      : [
          [
            "cost",
            `${(cost ?? 0).toFixed(6)} paid, ${(recordedCost ?? 0).toFixed(6)} recorded`,
          ] as const,
        ]),
    ["status", problemCount === 0 ? status : `${status}, ${problemCount} problems`],
    ...(result.comparison === undefined
      ? []
      : [
          [
            "verdict",
            `${result.comparison.verdict}, compared with '${result.comparison.baseline.name}' of ${result.comparison.baseline.startedAt}`,
          ] as const,
        ]),
    ...(result.comparison?.datasetChanges === undefined
      ? []
      : [
          [
            "changes",
            `of the dataset since version ${result.comparison.datasetChanges.hash.slice(0, 12)}: ${changesText(result.comparison.datasetChanges)}; they are not compared`,
          ] as const,
        ]),
  ];
}

/**
 * Returns the kinds of changes of a dataset since the version of the baseline, with the ids of
 * their cases.
 */
export function changedCases({
  comparison,
}: EvaluationResult): readonly (readonly [kind: string, ids: readonly string[]])[] {
  const { added = [], removed = [], changed = [] } = comparison?.datasetChanges ?? {};
  return Object.entries({ added, removed, changed }).filter(([, ids]) => ids.length > 0);
}

/** Returns whether all scores of a case pass. Returns `undefined` if the case has no score. */
export function casePasses({ trials }: CaseResult): boolean | undefined {
  const scores = trials.flatMap((trial) => Object.values(trial.scores));
  const failed = trials.some(({ error }) => error !== undefined);
  if (failed || scores.some(({ error, passed }) => error !== undefined || passed === false))
    return false;
  return scores.some(({ passed }) => passed === true) ? true : undefined;
}

/** Returns the mean of a scorer in a case. */
export function meanOfCase({ trials }: CaseResult, scorer: string): number | undefined {
  const values = trials.flatMap(({ scores }) => scores[scorer]?.value ?? []);
  return values.length === 0 ? undefined : values.reduce((a, b) => a + b, 0) / values.length;
}

/** Returns the reason for a score that does not pass, or for a missing score. */
export function reasonOfCase({ trials }: CaseResult, scorer: string): string {
  const reasons = trials.flatMap(({ error, scores }: TrialResult) => {
    const score = scores[scorer];
    if (error !== undefined) return [error];
    return score?.passed === true
      ? []
      : [
          score?.error ??
            score?.reason ??
            (score?.value === undefined ? "" : `${scorer} is ${score.value}`),
        ];
  });
  return [...new Set(reasons.filter((reason) => reason !== ""))].join("; ");
}
