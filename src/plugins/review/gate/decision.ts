import { ExitEarlySignal, RunSuspendedError } from "../../../contracts/errors.js";
import { asReviewDecision, ReviewDecision } from "../../../contracts/review.js";
import { ReviewError, ReviewTimeoutError } from "../../../contracts/state-errors.js";
import { messageOf } from "../../../util/errors.js";

/**
 * Converts a result of a handler to a decision.
 * @throws ReviewError for any other value, so nothing is approved by mistake.
 */
export function decisionOf(answer: unknown): ReviewDecision {
  try {
    return asReviewDecision(answer);
  } catch (error) {
    throw new ReviewError(`The review handler returned no decision: ${messageOf(error)}`, {
      hint: "A review handler returns ReviewDecision.continue(), .edit(text) or .exitEarly().",
    });
  }
}

/**
 * Returns the decision of a handler that threw. An early exit is a decision.
 * @throws ReviewError, ReviewTimeoutError
 */
export function decisionOfError(error: unknown): ReviewDecision {
  if (ExitEarlySignal.isInstance(error))
    return ReviewDecision.exitEarly({ timedOut: error.timedOut });
  if (
    ReviewError.isInstance(error) ||
    ReviewTimeoutError.isInstance(error) ||
    RunSuspendedError.isInstance(error)
  )
    throw error;
  throw new ReviewError(`The review handler failed: ${messageOf(error)}`, { cause: error });
}
