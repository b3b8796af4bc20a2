import type { Principal } from "../../../contracts/http-route.js";
import type { ReviewDecision, ReviewStore, StoredReview } from "../../../contracts/review.js";
import { hasReviewRole } from "../../shared/http/review-roles.js";

/** The result of an answer. */
export type AnswerOutcome = "resolved" | "decided" | "over" | "unknown" | "denied";

/** The reviews of the runs that requests have started. */
export class ReviewDesk {
  readonly #store: ReviewStore | undefined;
  readonly #waiting = new Map<string, Set<(review: StoredReview) => void>>();
  #leave: (() => void) | undefined;

  constructor(store: ReviewStore | undefined) {
    this.#store = store;
  }

  close(): void {
    this.#leave?.();
    this.#leave = undefined;
  }

  /** Returns the oldest waiting review of a run. */
  async pendingOf(runId: string): Promise<StoredReview | undefined> {
    const reviews = (await this.#store?.pending()) ?? [];
    return reviews.find((review) => review.runId === runId);
  }

  /** Calls `fn` with each new review of a run. Returns a function that removes the callback. */
  on(runId: string, fn: (review: StoredReview) => void): () => void {
    const known = this.#waiting.get(runId) ?? new Set();
    this.#waiting.set(runId, known.add(fn));
    // Subscribed only while a client watches, because runs treat a store with a listener as
    // answered.
    this.#leave ??= this.#store?.onRequest((review) => {
      for (const hear of this.#waiting.get(review.runId) ?? []) hear(review);
    });
    return () => {
      known.delete(fn);
      if (known.size === 0 && this.#waiting.get(runId) === known) this.#waiting.delete(runId);
      if (this.#waiting.size === 0) this.close();
    };
  }

  /** Answers a review of a run, if the principal has the role that the review requires. */
  async answer(
    { runId, reviewId }: Pick<StoredReview, "runId" | "reviewId">,
    decision: ReviewDecision,
    principal: Principal,
  ): Promise<AnswerOutcome> {
    const store = this.#store;
    if (store === undefined) return "unknown";
    const review = (await store.pending()).find((one) => one.reviewId === reviewId);
    if (review !== undefined && review.runId !== runId) return "unknown";
    if (review !== undefined && !mayAnswer(review, principal)) return "denied";
    const { outcome, review: known } = await store.resolve(reviewId, decision);
    return known !== undefined && known.runId !== runId ? "unknown" : outcome;
  }
}

function mayAnswer({ requiredRole }: StoredReview, principal: Principal): boolean {
  if (requiredRole === undefined || principal.role === "operator") return true;
  return hasReviewRole(principal, requiredRole);
}
