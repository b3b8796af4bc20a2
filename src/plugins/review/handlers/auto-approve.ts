import type { ReviewHandler } from "../../../contracts/review.js";
import { ValidationError } from "../../../contracts/errors.js";
import { ReviewDecision } from "../../../contracts/review.js";
import { preview } from "../../../contracts/validation.js";
import { sleep } from "../../../util/abort/timeouts.js";

/** The maximum delay of a timer, in milliseconds. */
const LONGEST_MS = 2_147_483_647;

/** Approves every request. */
export function autoApprove(): ReviewHandler {
  return () => ReviewDecision.continue();
}

/**
 * Approves every request after `delayMs` milliseconds.
 * @throws ValidationError for an invalid delay.
 */
export function autoApproveWithDelay(delayMs: number): ReviewHandler {
  checkDelay(delayMs);
  return async ({ signal }) => {
    await sleep(delayMs, signal);
    return ReviewDecision.continue();
  };
}

function checkDelay(delayMs: unknown): void {
  if (delayMs === undefined || delayMs === null)
    throw new ValidationError("delay must not be null");
  if (typeof delayMs !== "number" || Number.isNaN(delayMs) || delayMs > LONGEST_MS)
    throw new ValidationError(
      `delay must be a number of milliseconds (at most ${LONGEST_MS}), got: ${preview(delayMs)}`,
    );
  if (delayMs < 0)
    throw new ValidationError("delay must not be negative", { hint: `It was ${delayMs}.` });
}
