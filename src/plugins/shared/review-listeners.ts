import type { StoredReview } from "../../contracts/review.js";
import { ValidationError } from "../../contracts/errors.js";
import { requireFunction } from "../../contracts/validation.js";
import { messageOf } from "../../util/errors.js";
import { emitProcessWarning } from "../../util/process-warning.js";

/** The functions that are called with each new review. */
export class ReviewListeners {
  readonly #listeners = new Set<{ readonly fn: (review: StoredReview) => unknown }>();

  get size(): number {
    return this.#listeners.size;
  }

  /**
   * Returns a function that removes `fn`.
   * @throws ValidationError for a value that is no function.
   */
  add(fn: (review: StoredReview) => unknown): () => void {
    if (fn === undefined) throw new ValidationError("onRequest needs a function");
    requireFunction("onRequest's argument", fn);
    const listener = { fn };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Calls all functions. If a function fails, a process warning is emitted and the run is not
   * affected.
   */
  notify(review: StoredReview): void {
    for (const { fn } of this.#listeners) void callListener(fn, review);
  }
}

async function callListener(
  fn: (review: StoredReview) => unknown,
  review: StoredReview,
): Promise<void> {
  try {
    await fn(review);
  } catch (error) {
    emitProcessWarning(`A listener of review '${review.reviewId}' failed: ${messageOf(error)}`);
  }
}
