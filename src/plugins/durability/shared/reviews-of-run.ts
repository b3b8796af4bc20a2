import type { ReviewStore, StoredReview } from "../../../contracts/review.js";

/** A review store that can read the reviews of one run without those of other runs. */
export interface ReviewsOfRun extends ReviewStore {
  /** Returns the open reviews of a run. @throws JournalError if one of them can't be read. */
  pendingOf(runId: string): Promise<readonly StoredReview[]>;
}

export function readsReviewsOfRun(store: ReviewStore): store is ReviewsOfRun {
  // The property is only read.
  return typeof (store as Partial<ReviewsOfRun>).pendingOf === "function";
}
