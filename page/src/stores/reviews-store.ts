import { computed, signal, type ReadonlySignal } from "@preact/signals";
import type { AnsweredReview } from "../../../src/plugins/dashboard/protocol/messages.js";
import type { StoredReview } from "../../../src/contracts/review.js";
import type {
  ReviewAppliedBody,
  ReviewDecisionBody,
} from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { Api } from "../api.js";
import type { ConnectionStore } from "./connection-store.js";

export interface ReviewsStore {
  /** The waiting reviews, nearest deadline first. Reviews without a deadline are last. */
  readonly pending: ReadonlySignal<readonly StoredReview[]>;
  /** The last reviews that were answered or have expired. */
  readonly answered: ReadonlySignal<readonly AnsweredReview[]>;
  /** Whether the first list has arrived. */
  readonly isKnown: ReadonlySignal<boolean>;
  /** Answers a review. @throws ApiError with the code of the server: REVIEW_RESOLVED, ... */
  answer(reviewId: string, body: ReviewDecisionBody): Promise<ReviewAppliedBody>;
}

export function createReviewsStore(connection: ConnectionStore, api: Api): ReviewsStore {
  const waiting = signal<readonly StoredReview[]>([]);
  const answered = signal<readonly AnsweredReview[]>([]);
  const isKnown = signal(false);
  connection.onFrame((frame) => {
    if (frame.type !== "hello" && frame.type !== "reviews") return;
    waiting.value = frame.type === "hello" ? frame.reviews : frame.pending;
    answered.value = frame.answered;
    isKnown.value = true;
  });
  const lastMoment = "9999";
  return {
    pending: computed(() =>
      [...waiting.value].sort((a, b) => {
        const [first, second] = [a.deadline ?? lastMoment, b.deadline ?? lastMoment];
        return first < second ? -1 : Number(first > second);
      }),
    ),
    answered,
    isKnown,
    answer: (reviewId, body) =>
      api.send("POST", `/api/reviews/${encodeURIComponent(reviewId)}`, body),
  };
}
