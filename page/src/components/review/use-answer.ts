import { useState } from "preact/hooks";
import type { StoredReview } from "../../../../src/contracts/review.js";
import type { ReviewDecisionBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { ApiError } from "../../api.js";
import { answerBody, refusalOf, type Refusal } from "../../lib/reviews/answer.js";
import { useBoard } from "../../stores/board.js";

type Decision = ReviewDecisionBody["decision"];

export type Sending =
  | { readonly kind: "open" }
  | { readonly kind: "sending" }
  | { readonly kind: "applied"; readonly decision: Decision }
  | { readonly kind: "refused"; readonly refusal: Refusal };

export interface Answer {
  readonly state: Sending;
  /** Sends one decision at a time. Sends nothing after a decision was applied. */
  send(decision: Decision, o: { readonly text: string; readonly comment: string }): void;
}

/**
 * Sends the answer to a review, and stores the result. Calls `onApplied` when the answer was
 * applied.
 */
export function useAnswer({ reviewId }: StoredReview, onApplied: () => void): Answer {
  const { reviews } = useBoard();
  const [state, setState] = useState<Sending>({ kind: "open" });
  return {
    state,
    send: (decision, o) => {
      if (state.kind === "sending" || state.kind === "applied") return;
      setState({ kind: "sending" });
      reviews
        .answer(reviewId, answerBody(decision, o))
        .then(() => {
          onApplied();
          setState({ kind: "applied", decision });
        })
        .catch((error: unknown) => {
          if (!(error instanceof ApiError)) throw error;
          const { status, code, message, body } = error;
          const refusal = refusalOf(status, { ...body, error: code, message });
          setState({ kind: "refused", refusal });
        });
    },
  };
}
