import type {
  ReviewDecision,
  ReviewResolution,
  ReviewStore,
  StoredReview,
} from "../../../../contracts/review.js";
import type { Clock } from "../../../../contracts/runtime.js";
import { JournalError } from "../../../../contracts/journal-errors.js";
import { asReviewDecision } from "../../../../contracts/review.js";
import { ReviewError } from "../../../../contracts/state-errors.js";
import { ReviewListeners } from "../../../shared/review-listeners.js";

interface WaitingReview {
  review: StoredReview;
  /** The waits of the run that requested the review. */
  readonly waits: Set<(decision: ReviewDecision | Error) => void>;
}

/**
 * The reviews of an in-memory journal. A review remains when its run ends, and can be answered
 * until its deadline.
 */
export class InMemoryReviews implements ReviewStore {
  readonly #clock: Pick<Clock, "now">;
  readonly #isOver: (runId: string) => boolean;
  readonly #kept = new Map<string, WaitingReview>();
  #closed: JournalError | undefined;
  readonly #listeners = new ReviewListeners();

  /** `isOver`: whether a run is completed or cancelled. */
  constructor(clock: Pick<Clock, "now">, isOver: (runId: string) => boolean) {
    this.#clock = clock;
    this.#isOver = isOver;
  }

  async ask(request: StoredReview): Promise<StoredReview> {
    this.#requireOpen();
    const { reviewId } = request;
    const known = this.#kept.get(reviewId);
    if (known !== undefined && known.waits.size > 0)
      throw new ReviewError(`Review '${reviewId}' is waiting already`, {
        hint: "Two runs at once can't have the same runId where people are asked.",
      });
    if (known !== undefined) return known.review;
    const review = Object.freeze(structuredClone(request));
    this.#kept.set(reviewId, { review, waits: new Set() });
    this.#listeners.notify(review);
    return review;
  }

  async pending(): Promise<readonly StoredReview[]> {
    this.#requireOpen();
    return [...this.#kept.values()]
      .filter((kept) => this.#isOpen(kept))
      .map(({ review }) => review)
      .sort((a, b) => (a.requestedAt < b.requestedAt ? -1 : 1));
  }

  async resolve(reviewId: string, decision: ReviewDecision): Promise<ReviewResolution> {
    this.#requireOpen();
    const checked = asReviewDecision(decision);
    const kept = this.#kept.get(reviewId);
    if (kept === undefined) return { outcome: "unknown" };
    if (kept.review.decision !== undefined) return { outcome: "decided", review: kept.review };
    if (!this.#isOpen(kept)) return { outcome: "over", review: kept.review };
    const decidedAt = this.#clock.now().toISOString();
    kept.review = Object.freeze({ ...kept.review, decision: checked, decidedAt });
    for (const settle of kept.waits) settle(checked);
    return { outcome: "resolved", review: kept.review };
  }

  async waitFor(reviewId: string, signal: AbortSignal): Promise<ReviewDecision> {
    this.#requireOpen();
    const kept = this.#kept.get(reviewId);
    if (kept === undefined) throw new ReviewError(`There is no review '${reviewId}'`);
    if (kept.review.decision !== undefined) return kept.review.decision;
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        kept.waits.delete(settle);
        reject(signal.reason as Error); // the reason of the caller
      };
      const settle = (decision: ReviewDecision | Error): void => {
        kept.waits.delete(settle);
        signal.removeEventListener("abort", onAbort);
        if (decision instanceof Error) reject(decision);
        else resolve(decision);
      };
      kept.waits.add(settle);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  onRequest(fn: (review: StoredReview) => unknown): () => void {
    return this.#listeners.add(fn);
  }

  isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  howToAnswer(reviewId: string): string {
    return `journal.reviews.resolve("${reviewId}", ReviewDecision.continue())`;
  }

  /** Removes the reviews of a run. */
  forget(runId: string): void {
    for (const [id, { review }] of this.#kept) if (review.runId === runId) this.#kept.delete(id);
  }

  /** Ends all waits. */
  close(): void {
    const error = new JournalError("The journal in memory has been closed");
    this.#closed = error;
    for (const { waits } of this.#kept.values()) for (const settle of waits) settle(error);
  }

  #requireOpen(): void {
    if (this.#closed !== undefined) throw this.#closed;
  }

  #isOpen({ review: { decision, deadline, runId } }: WaitingReview): boolean {
    const isPast = deadline !== undefined && Date.parse(deadline) <= this.#clock.now().getTime();
    return decision === undefined && !isPast && !this.#isOver(runId);
  }
}
