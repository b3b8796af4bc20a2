import type { EvaluationSpending, TrialWay } from "./trial-way.js";

/** A mean between two bounds. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  /** For instance 0.95. */
  readonly confidence: number;
  /** `bootstrap` over the cases; `normal` for more than 10,000; `exact` if all values are equal. */
  readonly method: "bootstrap" | "normal" | "exact";
}

/** The scores of one scorer over all cases. */
export interface ScoreSummary {
  readonly scorer: string;
  /** Cases with at least one score. */
  readonly cases: number;
  /** Scores, of all trials. */
  readonly scores: number;
  readonly errors: number;
  /** Samples to which the scorer did not apply. */
  readonly skipped: number;
  /** The mean of the means of the cases; absent without a score. */
  readonly mean?: number | undefined;
  readonly interval?: Interval | undefined;
  /** The minimum value that passes. */
  readonly passAt: number;
  /** The fraction of the scores that pass. */
  readonly passRate?: number | undefined;
  /**
   * The probability that at least one of k trials passes, for k from 1. Over cases with scores for
   * all trials.
   */
  readonly passAtK: readonly number[];
  /** The probability that all of k trials pass (pass^k). */
  readonly passHatK: readonly number[];
  /**
   * The minimum difference that a second evaluation of this size would detect with a probability of
   * 80 %. Absent for fewer than 6 cases.
   */
  readonly detectableDifference?: number | undefined;
}

/** The result of a comparison. */
export type EvaluationVerdict = "better" | "worse" | "no difference" | "not enough data";

/** The scores of one scorer compared with the baseline, case by case. */
export interface ScoreComparison {
  readonly scorer: string;
  /** Cases with scores in both. */
  readonly pairs: number;
  readonly baselineMean: number;
  /** The mean of the differences of the cases: above 0 is better. */
  readonly difference: number;
  readonly interval: Interval;
  readonly better: readonly string[];
  readonly worse: readonly string[];
  /** The p-value of the two-sided sign test. */
  readonly signTest: number;
  readonly detectableDifference?: number | undefined;
  readonly verdict: EvaluationVerdict;
}

/** The cases that differ between two versions of a dataset, by their ids. */
export interface DatasetChanges {
  /** The hash of the earlier version. */
  readonly hash: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Cases with another input, expected value or tags. */
  readonly changed: readonly string[];
}

/** A comparison with a baseline. */
export interface BaselineComparison {
  /** The baseline's name and start. */
  readonly baseline: { readonly name: string; readonly startedAt: string };
  /** Set for a baseline of another version of the dataset: only unchanged cases are compared. */
  readonly datasetChanges?: DatasetChanges | undefined;
  readonly scorers: readonly ScoreComparison[];
  /** `worse` if one scorer is; `better` if one is and none is worse. */
  readonly verdict: EvaluationVerdict;
}

/** The reason of a missing score or output. */
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
  /** A code of `docs/errors.md`. */
  readonly code: string;
  readonly message: string;
  readonly caseId?: string | undefined;
  readonly trial?: number | undefined;
  readonly scorer?: string | undefined;
}

/** A score of a trial: a value, an error, or neither if the scorer does not apply. */
export interface TrialScore {
  readonly value?: number | undefined;
  readonly passed?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly evidence?: unknown;
  readonly error?: string | undefined;
}

/** One trial of a case. */
export interface TrialResult<Out = unknown> {
  /** From 1. */
  readonly trial: number;
  readonly output?: Out | undefined;
  /** The reason of a missing output. */
  readonly error?: string | undefined;
  /** By the name of the scorer. */
  readonly scores: Readonly<Record<string, TrialScore>>;
  readonly way: TrialWay;
  /** The file of the trace. */
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

/** The result of an evaluation. JSON; `evaluationJson` writes it and `readEvaluation` reads it. */
export interface EvaluationResult<In = unknown, Out = unknown> {
  readonly format: "agentensemble-evaluation";
  readonly version: 1;
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly seed: number;
  readonly trials: number;
  readonly dataset: {
    readonly name?: string | undefined;
    /** SHA-256 of the cases, in hexadecimal digits. */
    readonly hash: string;
    readonly cases: number;
    /** Number of cases selected by `only`. */
    readonly selected: number;
  };
  /** `incomplete`: the budget ended it. */
  readonly status: "complete" | "incomplete" | "cancelled";
  readonly scores: readonly ScoreSummary[];
  readonly comparison?: BaselineComparison | undefined;
  /** The usage of the target, and of judges and simulated users. */
  readonly spending: { readonly target: EvaluationSpending; readonly judges: EvaluationSpending };
  /** At most 1,000. */
  readonly problems: readonly EvaluationProblem[];
  readonly problemCount: number;
  /** In the order of the dataset, up to `keepCases`. */
  readonly cases: readonly CaseResult<In, Out>[];
}
