import type { EvaluationSpending, TrialWay } from "./trial-way.js";

/** A mean and its confidence interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  /** The confidence level, for instance 0.95. */
  readonly confidence: number;
  /**
   * The method: `bootstrap` over the cases, `normal` for more than 10,000 cases, `exact` if all
   * values are equal.
   */
  readonly method: "bootstrap" | "normal" | "exact";
}

/** The scores of one scorer over all cases. */
export interface ScoreSummary {
  readonly scorer: string;
  /** Number of cases with at least one score. */
  readonly cases: number;
  /** Number of scores over all trials. */
  readonly scores: number;
  readonly errors: number;
  /** Number of samples to which the scorer did not apply. */
  readonly skipped: number;
  /** The mean of the cases' means. Absent without a score. */
  readonly mean?: number | undefined;
  readonly interval?: Interval | undefined;
  /** The minimum score that passes. */
  readonly passAt: number;
  /** The fraction of scores that pass. */
  readonly passRate?: number | undefined;
  /**
   * The probabilities that at least one of k trials passes, for k from 1. Estimated from cases with
   * scores for all trials.
   */
  readonly passAtK: readonly number[];
  /** The probabilities that all of k trials pass (pass^k), for k from 1. */
  readonly passHatK: readonly number[];
  /**
   * The minimum difference that a second evaluation of the same size would detect with a
   * probability of 80 %. Absent for fewer than 6 cases.
   */
  readonly detectableDifference?: number | undefined;
}

/** The result of a comparison. */
export type EvaluationVerdict = "better" | "worse" | "no difference" | "not enough data";

/** The scores of one scorer compared with the baseline, case by case. */
export interface ScoreComparison {
  readonly scorer: string;
  /** Number of cases with scores in both evaluations. */
  readonly pairs: number;
  readonly baselineMean: number;
  /** The mean difference over the cases. A positive value means better than the baseline. */
  readonly difference: number;
  readonly interval: Interval;
  readonly better: readonly string[];
  readonly worse: readonly string[];
  /** The p-value of the two-sided sign test. */
  readonly signTest: number;
  readonly detectableDifference?: number | undefined;
  readonly verdict: EvaluationVerdict;
}

/** The ids of the cases that differ between two versions of a dataset. */
export interface DatasetChanges {
  /** The hash of the baseline's version. */
  readonly hash: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Cases with another input, expected value or tags. */
  readonly changed: readonly string[];
}

/** A comparison with a baseline. */
export interface BaselineComparison {
  /** The name and the start of the baseline. */
  readonly baseline: { readonly name: string; readonly startedAt: string };
  /**
   * Present if the baseline has another version of the dataset. Only unchanged cases are then
   * compared.
   */
  readonly datasetChanges?: DatasetChanges | undefined;
  readonly scorers: readonly ScoreComparison[];
  /**
   * `worse` if at least one scorer is worse. `better` if at least one scorer is better and none is
   * worse.
   */
  readonly verdict: EvaluationVerdict;
}

/** The reason for a missing score or output. */
export interface EvaluationProblem {
  readonly kind:
    | "target"
    | "score"
    | "timeout"
    | "not-a-number"
    | "out-of-range"
    | "judge"
    | "budget"
    | "cancelled"
    | "baseline";
  /** The code of the error, as in `docs/errors.md`. */
  readonly code: string;
  readonly message: string;
  readonly caseId?: string | undefined;
  readonly trial?: number | undefined;
  readonly scorer?: string | undefined;
}

/** A score of a trial: a value or an error. Both are absent if the scorer does not apply. */
export interface TrialScore {
  readonly value?: number | undefined;
  readonly passed?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly evidence?: unknown;
  readonly error?: string | undefined;
}

/** One trial of a case. */
export interface TrialResult<Out = unknown> {
  /** The number of the trial, from 1. */
  readonly trial: number;
  readonly output?: Out | undefined;
  /** The reason for a missing output. */
  readonly error?: string | undefined;
  /** The scores by the name of the scorer. */
  readonly scores: Readonly<Record<string, TrialScore>>;
  readonly way: TrialWay;
  /** The path of the trace file. */
  readonly trace?: string | undefined;
}

/** A case with its trials. */
export interface CaseResult<In = unknown, Out = unknown> {
  readonly id: string;
  readonly input: In;
  readonly expected?: Out | undefined;
  readonly tags: readonly string[];
  readonly trials: readonly TrialResult<Out>[];
}

/**
 * The result of an evaluation. JSON data. Written by `evaluationJson` and read by `readEvaluation`.
 */
export interface EvaluationResult<In = unknown, Out = unknown> {
  readonly format: "agentensemble-evaluation";
  readonly version: 1;
  readonly name: string;
  /** The start: ISO 8601, UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly seed: number;
  readonly trials: number;
  readonly dataset: {
    readonly name?: string | undefined;
    /** SHA-256 of the cases as hexadecimal digits. */
    readonly hash: string;
    readonly cases: number;
    /** Number of cases selected by `only`. */
    readonly selected: number;
  };
  /** `incomplete`: the evaluation ended because its budget was exhausted. */
  readonly status: "complete" | "incomplete" | "cancelled";
  readonly scores: readonly ScoreSummary[];
  readonly comparison?: BaselineComparison | undefined;
  /** The usage of the target, and of judges with simulated users. */
  readonly spending: { readonly target: EvaluationSpending; readonly judges: EvaluationSpending };
  /** The problems, at most 1,000. */
  readonly problems: readonly EvaluationProblem[];
  readonly problemCount: number;
  /** The cases in the order of the dataset, at most `keepCases`. */
  readonly cases: readonly CaseResult<In, Out>[];
}
