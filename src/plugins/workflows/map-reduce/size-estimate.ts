import type { TaskOutput } from "../../../contracts/output.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";

/** Characters per token, as a fallback. */
const CHARACTERS = 4;

/**
 * Counts the tokens of outputs. Uses the number reported by the model, or else the user's
 * estimator, or else the length.
 */
export class SizeEstimate {
  readonly #estimator: ((text: string) => number) | undefined;
  readonly #warn: (message: string) => void;
  #warned = false;

  constructor(estimator: ((text: string) => number) | undefined, warn: (message: string) => void) {
    this.#estimator = estimator;
    this.#warn = warn;
  }

  /**
   * A report counts only if one call produced the whole output. The sum over a conversation does
   * not measure its final text.
   */
  tokensOf({ raw, taskId, metrics }: TaskOutput): number {
    if (metrics.llmCallCount === 1 && metrics.outputTokens >= 0) return metrics.outputTokens;
    if (this.#estimator !== undefined) return estimate(this.#estimator, raw);
    if (!this.#warned) {
      this.#warned = true;
      this.#warn(
        `No model reported the tokens of the output of '${taskId}', so they are estimated as its length / ${CHARACTERS}. Set tokenEstimator for a better estimate.`,
      );
    }
    return Math.floor(raw.length / CHARACTERS);
  }
}

/** @throws ValidationError for an estimator that does not return a count */
function estimate(estimator: (text: string) => number, text: string): number {
  const tokens: unknown = estimator(text);
  if (typeof tokens === "number" && Number.isFinite(tokens) && tokens >= 0) return tokens;
  throw new ValidationError(`tokenEstimator must return a number >= 0, got: ${preview(tokens)}`);
}
