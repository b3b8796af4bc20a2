import type {
  ReviewDecision,
  ReviewResolution,
  ReviewStore,
  StoredReview,
} from "../../../contracts/review.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { Journal } from "../../../contracts/journal.js";

/** Called with each question that a run waits for. Returns a function that ends the wait. */
type OnWait = (review: StoredReview) => () => void;

/** The review store of a journal for runs. Tracks the questions for which runs wait. */
export class WatchedReviews implements ReviewStore {
  readonly #journal: () => Journal;
  readonly #onWait: OnWait;
  /** Undecided questions of this process, by id. */
  readonly #asked = new Map<string, StoredReview>();

  constructor(journal: () => Journal, onWait: OnWait) {
    this.#journal = journal;
    this.#onWait = onWait;
  }

  async ask(request: StoredReview): Promise<StoredReview> {
    const review = await this.#store.ask(request);
    if (review.decision === undefined) this.#asked.set(review.reviewId, review);
    return review;
  }

  pending(): Awaitable<readonly StoredReview[]> {
    return this.#store.pending();
  }

  resolve(reviewId: string, decision: ReviewDecision): Awaitable<ReviewResolution> {
    return this.#store.resolve(reviewId, decision);
  }

  async waitFor(reviewId: string, signal: AbortSignal): Promise<ReviewDecision> {
    const review = this.#asked.get(reviewId);
    const end = review === undefined || signal.aborted ? undefined : this.#onWait(review);
    try {
      return await this.#store.waitFor(reviewId, signal);
    } finally {
      this.#asked.delete(reviewId);
      end?.();
    }
  }

  onRequest(fn: (review: StoredReview) => unknown): () => void {
    return this.#store.onRequest(fn);
  }

  isWatched(): boolean {
    return this.#store.isWatched();
  }

  howToAnswer(reviewId: string): string {
    return (
      this.#store.howToAnswer?.(reviewId) ??
      `agentensemble reviews answer ${reviewId} continue --store ${this.#journal().name}`
    );
  }

  get #store(): ReviewStore {
    return this.#journal().reviews;
  }
}
