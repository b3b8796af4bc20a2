import { ExitEarlySignal, RunSuspendedError } from "../../../contracts/errors.js";
import { asReviewDecision, ReviewDecision } from "../../../contracts/review.js";
import { ReviewError, ReviewTimeoutError } from "../../../contracts/state-errors.js";
import { messageOf } from "../../../util/errors.js";

/** The decision that a handler's answer is. @throws ReviewError for anything else: the gate stays closed. */
export function decisionOf(answer: unknown): ReviewDecision {
  try {
    return asReviewDecision(answer);
  } catch (error) {
    throw new ReviewError(`The review handler returned no decision: ${messageOf(error)}`, {
      hint: "A review handler returns ReviewDecision.continue(), .edit(text) or .exitEarly().",
    });
  }
}

/** What a handler's failure comes to: an early exit is a decision too. @throws ReviewError, ReviewTimeoutError */
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
