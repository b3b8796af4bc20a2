import { ExitEarlySignal } from "../../../contracts/errors.js";
import { ReviewDecision } from "../../../contracts/review.js";
import { ReviewError, ReviewTimeoutError } from "../../../contracts/state-errors.js";
import { preview } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";

const HINT = "A review handler returns ReviewDecision.continue(), .edit(text) or .exitEarly().";

/** The decision that a handler's answer is. @throws ReviewError for anything else: the gate stays closed. */
export function decisionOf(answer: unknown): ReviewDecision {
  const { type, revisedOutput, timedOut } =
    typeof answer === "object" && answer !== null
      ? (answer as { readonly [K in keyof ReviewDecision]?: unknown })
      : {}; // looked at, not trusted
  if (type === "CONTINUE") return ReviewDecision.continue();
  if (type === "EDIT" && typeof revisedOutput === "string")
    return ReviewDecision.edit(revisedOutput);
  if (type === "EXIT_EARLY" && (timedOut === undefined || typeof timedOut === "boolean"))
    return ReviewDecision.exitEarly({ timedOut });
  const what =
    type === "EDIT"
      ? "an EDIT without the text `revisedOutput`"
      : `no decision: ${preview(answer)}`;
  throw new ReviewError(`The review handler returned ${what}`, { hint: HINT });
}

/** What a handler's failure comes to: an early exit is a decision too. @throws ReviewError, ReviewTimeoutError */
export function decisionOfError(error: unknown): ReviewDecision {
  if (ExitEarlySignal.isInstance(error))
    return ReviewDecision.exitEarly({ timedOut: error.timedOut });
  if (ReviewError.isInstance(error) || ReviewTimeoutError.isInstance(error)) throw error;
  throw new ReviewError(`The review handler failed: ${messageOf(error)}`, { cause: error });
}
