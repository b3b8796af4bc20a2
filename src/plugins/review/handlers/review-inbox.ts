import type { ReviewDecision, ReviewHandler, ReviewRequest } from "../../../contracts/review.js";
import { ValidationError } from "../../../contracts/errors.js";
import { ReviewError } from "../../../contracts/state-errors.js";
import { preview, requireFunction } from "../../../contracts/validation.js";
import { emitProcessWarning } from "../../../util/process-warning.js";
import { messageOf } from "../../../util/errors.js";

/** Reviews that wait for an answer by another way: a web page, a chat, a queue. */
export interface ReviewInbox {
  /** For `reviewHandler`. */
  readonly handler: ReviewHandler;
  /** What waits, oldest first. A review goes when it is answered, its time is up or its run has ended. */
  pending(): readonly ReviewRequest[];
  /**
   * Answers a review: `true` where it was waiting, `false` where it is unknown, answered or over. Who may answer (`requiredRole`) is yours to check.
   * @throws ValidationError for what is no decision; the review goes on waiting.
   */
  resolve(reviewId: string, decision: ReviewDecision): boolean;
  /** Calls `fn` with each new review; call what it returns to stop. A function that throws is reported as a process warning, and the review waits all the same. */
  onRequest(fn: (request: ReviewRequest) => unknown): () => void;
}

interface WaitingReview {
  readonly request: ReviewRequest;
  readonly settle: (decision: ReviewDecision) => void;
}

/** Makes an inbox. It may serve any number of ensembles and runs. */
export function reviewInbox(): ReviewInbox {
  const inbox = new Inbox();
  return Object.freeze({
    handler: (request: ReviewRequest) => inbox.add(request),
    pending: () => inbox.pending(),
    resolve: (reviewId: string, decision: ReviewDecision) => inbox.resolve(reviewId, decision),
    onRequest: (fn: (request: ReviewRequest) => unknown) => inbox.onRequest(fn),
  });
}

class Inbox {
  readonly #waiting = new Map<string, WaitingReview>();
  readonly #listeners = new Set<{ readonly fn: (request: ReviewRequest) => unknown }>();

  add(request: ReviewRequest): Promise<ReviewDecision> {
    const { reviewId, signal } = request;
    if (this.#waiting.has(reviewId))
      throw new ReviewError(`Review '${reviewId}' is waiting already`, {
        hint: "Two runs at once can't have the same runId where people are asked.",
      });
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(reviewId);
        reject(signal.reason);
      };
      const settle = (decision: ReviewDecision): void => {
        signal.removeEventListener("abort", onAbort);
        resolve(decision);
      };
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.set(reviewId, { request, settle });
      for (const { fn } of this.#listeners) void tell(fn, request);
    });
  }

  pending(): readonly ReviewRequest[] {
    return [...this.#waiting.values()].map(({ request }) => request);
  }

  resolve(reviewId: string, decision: ReviewDecision): boolean {
    checkDecision(decision);
    const waiting = this.#waiting.get(reviewId);
    if (waiting === undefined) return false;
    this.#waiting.delete(reviewId);
    waiting.settle(decision);
    return true;
  }

  onRequest(fn: (request: ReviewRequest) => unknown): () => void {
    if (fn === undefined) throw new ValidationError("onRequest needs a function");
    requireFunction("onRequest's argument", fn);
    const listener = { fn };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** An observer: what it throws changes nothing for the run. */
async function tell(
  fn: (request: ReviewRequest) => unknown,
  request: ReviewRequest,
): Promise<void> {
  try {
    await fn(request);
  } catch (error) {
    emitProcessWarning(
      `A function that was told of review '${request.reviewId}' failed: ${messageOf(error)}`,
    );
  }
}

/** @throws ValidationError for what the gate would not take: whoever answers should hear of it, not the run. */
function checkDecision(decision: unknown): void {
  const { type, revisedOutput, timedOut } =
    typeof decision === "object" && decision !== null ? (decision as Partial<ReviewDecision>) : {}; // looked at, not trusted
  if (type === "CONTINUE" || (type === "EDIT" && typeof revisedOutput === "string")) return;
  if (type === "EXIT_EARLY" && (timedOut === undefined || typeof timedOut === "boolean")) return;
  throw new ValidationError(
    `A decision must be made by ReviewDecision.continue(), .edit(text) or .exitEarly(), got: ${preview(decision)}`,
  );
}
