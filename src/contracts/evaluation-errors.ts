import { AgentEnsembleError, type ErrorDetails } from "./errors.js";

/** A dataset can't be evaluated. Nothing was spent. */
export class DatasetError extends AgentEnsembleError {
  /** `EMPTY`: no case. `DUPLICATE_ID`: two cases have one id. `INVALID_CASE`: a case has no input, or a wrong field. `CHANGED`: the cases are not those of the first pass. */
  readonly reason: "EMPTY" | "DUPLICATE_ID" | "INVALID_CASE" | "CHANGED";
  constructor(message: string, reason: DatasetError["reason"], details: ErrorDetails = {}) {
    super("AE_DATASET", message, details);
    this.reason = reason;
  }
}

/** A baseline can't be compared: it is of another dataset, or no evaluation. Nothing was spent. */
export class BaselineError extends AgentEnsembleError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("AE_BASELINE", message, details);
  }
}

/** A scorer gave no score. It is an error of the score, not a zero. */
export class ScoreError extends AgentEnsembleError {
  /** `timeout`: it did not end in time. `judge`: the model's answer is no judgement. */
  readonly kind: "score" | "timeout" | "not-a-number" | "out-of-range" | "judge";
  constructor(message: string, kind: ScoreError["kind"], details: ErrorDetails = {}) {
    super("AE_SCORE", message, details);
    this.kind = kind;
  }
}
