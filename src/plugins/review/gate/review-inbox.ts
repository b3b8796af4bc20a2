import type {
  ReviewDecision,
  ReviewResolution,
  ReviewStore,
  StoredReview,
} from "../../../contracts/review.js";
import { asReviewDecision } from "../../../contracts/review.js";
import { ReviewError } from "../../../contracts/state-errors.js";
import { systemClock } from "../../../util/runtime.js";
import { ReviewListeners } from "../../shared/review-listeners.js";

/**
 * The number of decided or expired reviews that are kept. A late answer then gets their outcome.
 */
const KEPT_ENDED = 1_000;

/** A review store in memory. Its methods return at once. */
export interface ReviewInbox extends ReviewStore {
  ask(request: StoredReview): StoredReview;
  pending(): readonly StoredReview[];
  resolve(reviewId: string, decision: ReviewDecision): ReviewResolution;
}

/**
 * Creates a review store in memory, for `review({ store })`. Its reviews end with the process. It
 * counts as watched, because the program that creates it is expected to answer.
 */
export function reviewInbox(): ReviewInbox {
  return new MemoryReviews(true);
}

/**
 * Creates the store of kernels without another one. It counts as watched only while it has a
 * listener.
 */
export function unwatchedReviews(): ReviewStore {
  return new MemoryReviews(false);
}

interface InboxEntry {
  review: StoredReview;
  state: "waiting" | "decided" | "over";
  /** Ends the wait of the run. */
  settle?: (decision: ReviewDecision) => void;
}

class MemoryReviews implements ReviewInbox {
  readonly #watched: boolean;
  readonly #waiting = new Map<string, InboxEntry>();
  readonly #ended = new Map<string, InboxEntry>();
  readonly #listeners = new ReviewListeners();

  constructor(watched: boolean) {
    this.#watched = watched;
  }

  ask(request: StoredReview): StoredReview {
    const { reviewId } = request;
    if (this.#waiting.has(reviewId))
      throw new ReviewError(`Review '${reviewId}' is waiting already`, {
        hint: "Two runs at once can't have the same runId where people are asked.",
      });
    const review = Object.freeze({ ...request });
    this.#ended.delete(reviewId);
    this.#waiting.set(reviewId, { review, state: "waiting" });
    this.#listeners.notify(review);
    return review;
  }

  pending(): readonly StoredReview[] {
    return [...this.#waiting.values()].map(({ review }) => review);
  }

  resolve(reviewId: string, decision: ReviewDecision): ReviewResolution {
    const checked = asReviewDecision(decision);
    const entry = this.#waiting.get(reviewId);
    if (entry === undefined) {
      const { state, review } = this.#ended.get(reviewId) ?? {};
      return review === undefined
        ? { outcome: "unknown" }
        : { outcome: state === "over" ? "over" : "decided", review };
    }
    const decidedAt = systemClock.now().toISOString();
    entry.review = Object.freeze({ ...entry.review, decision: checked, decidedAt });
    this.#end(entry, "decided");
    entry.settle?.(checked);
    return { outcome: "resolved", review: entry.review };
  }

  waitFor(reviewId: string, signal: AbortSignal): Promise<ReviewDecision> {
    const decided = this.#ended.get(reviewId)?.review.decision;
    if (decided !== undefined) return Promise.resolve(decided);
    const entry = this.#waiting.get(reviewId);
    if (entry === undefined)
      return Promise.reject(new ReviewError(`Review '${reviewId}' is not waiting`));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#end(entry, "over");
        reject(signal.reason);
      };
      entry.settle = (decision) => {
        signal.removeEventListener("abort", onAbort);
        resolve(decision);
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  onRequest(fn: (review: StoredReview) => unknown): () => void {
    return this.#listeners.add(fn);
  }

  isWatched(): boolean {
    return this.#watched || this.#listeners.size > 0;
  }

  #end(entry: InboxEntry, state: "decided" | "over"): void {
    const { reviewId } = entry.review;
    this.#waiting.delete(reviewId);
    entry.state = state;
    this.#ended.set(reviewId, entry);
    if (this.#ended.size <= KEPT_ENDED) return;
    for (const oldest of this.#ended.keys()) return void this.#ended.delete(oldest);
  }
}
