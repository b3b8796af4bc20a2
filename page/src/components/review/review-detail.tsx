import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { StoredReview } from "../../../../src/contracts/review.js";
import type { AnsweredReview } from "../../../../src/plugins/dashboard/protocol/messages.js";
import { useKeys } from "../../hooks/use-keys.js";
import { editProblem, originalText, refusalFor } from "../../lib/reviews/answer.js";
import { kindOf } from "../../lib/reviews/review-words.js";
import { useBoard } from "../../stores/board.js";
import { LedTo } from "./led-to.js";
import { Outcome } from "./outcome.js";
import { ReviewActions } from "./review-actions.js";
import { ReviewHead } from "./review-head.js";
import { Subject, type SubjectMode } from "./subject.js";
import { useAnswer, type Answer } from "./use-answer.js";
import { useDraft } from "./use-draft.js";

export interface ReviewDetailProps {
  readonly review: StoredReview;
  /** The end of the review, if the server still has it. */
  readonly end: AnsweredReview | undefined;
  /** Whether the review no longer waits. */
  readonly isOver: boolean;
  /** Number of waiting reviews. */
  readonly waiting: number;
}

/** One review: the question, the judged text, the preceding events, and the answer. */
export function ReviewDetail({ review, end, isOver, waiting }: ReviewDetailProps): JSX.Element {
  const original = originalText(review);
  const { text, comment, change, forget } = useDraft(review.reviewId, original);
  const [mode, setMode] = useState<SubjectMode>(text === original ? "original" : "edit");
  const answer = useAnswer(review, forget);
  const { refusal, isOpen } = useAccess(review, answer, isOver);
  const kind = kindOf(review);
  const isEdited = kind !== "before" && (text !== original || kind === "question");
  const problem = text === original ? undefined : editProblem(review, text);
  const isReady = problem === undefined && (kind !== "question" || text.trim() !== "");
  const approve = (): void => {
    if (isOpen) answer.send("approve", { text, comment });
  };
  const finish = (): void => {
    if (isOpen) answer.send("exit_early", { text, comment });
  };
  const edit = (): void => {
    if (isOpen && isReady) answer.send("edit", { text, comment });
  };
  useKeys({
    a: approve,
    x: finish,
    e: kind === "before" || !isOpen ? undefined : () => setMode("edit"),
    "Ctrl+Enter": isEdited ? edit : approve,
  });
  return (
    <section class="pane rv-detail" aria-label="Review">
      <ReviewHead review={review} waiting={waiting} isOver={isOver} />
      <div class="scroll" tabIndex={0} aria-label="What is judged" role="group">
        <Outcome {...{ review, end, isOver, refusal }} state={answer.state} />
        <Subject
          {...{ review, original, text, mode, problem }}
          onText={(value) => change({ text: value })}
          onMode={setMode}
          canEdit={refusal === undefined && !isOver}
        />
        <LedTo review={review} />
      </div>
      {!isOver && answer.state.kind !== "applied" && (
        <ReviewActions
          {...{ review, comment, isOpen, isEdited, isReady, approve, edit, finish }}
          onComment={(value) => change({ comment: value })}
        />
      )}
    </section>
  );
}

/** Returns whether the person may answer, and whether an answer can be sent now. */
function useAccess(
  review: StoredReview,
  { state }: Answer,
  isOver: boolean,
): { readonly refusal: string | undefined; readonly isOpen: boolean } {
  const { session, connection } = useBoard();
  const user = session.user.value;
  const refusal = user === undefined ? undefined : refusalFor(user, review);
  const isLive = connection.state.value.kind === "live";
  const isSending = state.kind === "sending" || state.kind === "applied";
  const isTooLate = state.kind === "refused" && state.refusal.kind === "over";
  return {
    refusal,
    isOpen: refusal === undefined && isLive && !isOver && !isSending && !isTooLate,
  };
}
