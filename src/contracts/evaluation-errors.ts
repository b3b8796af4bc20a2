import { AgentEnsembleError, type ErrorDetails } from "./errors.js";

/** A dataset can't be evaluated. Unless the reason is `CHANGED`, thrown before any spending. */
export class DatasetError extends AgentEnsembleError {
  /**
   * `EMPTY`: the dataset has no case. `DUPLICATE_ID`: two cases have the same id. `INVALID_CASE`: a
   * case has no input, or an invalid field. `CHANGED`: a second pass over the dataset returned
   * different cases.
   */
  readonly reason: "EMPTY" | "DUPLICATE_ID" | "INVALID_CASE" | "CHANGED";
  constructor(message: string, reason: DatasetError["reason"], details: ErrorDetails = {}) {
    super("AE_DATASET", message, details);
    this.reason = reason;
  }
}

/**
 * A baseline can't be compared: it belongs to another dataset, or is not an evaluation. Thrown
 * before any spending.
 */
export class BaselineError extends AgentEnsembleError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("AE_BASELINE", message, details);
  }
}

/** A scorer returned no score. The error is recorded as such, not as a score of zero. */
export class ScoreError extends AgentEnsembleError {
  /**
   * `timeout`: the scorer exceeded its time limit. `judge`: the model's answer was not a valid
   * judgement.
   */
  readonly kind: "score" | "timeout" | "not-a-number" | "out-of-range" | "judge";
  constructor(message: string, kind: ScoreError["kind"], details: ErrorDetails = {}) {
    super("AE_SCORE", message, details);
    this.kind = kind;
  }
}
