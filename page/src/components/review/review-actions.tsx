import type { JSX } from "preact";
import type { StoredReview } from "../../../../src/contracts/review.js";
import { kindOf, wordsOf } from "../../lib/reviews/review-words.js";
import { SendKey } from "../send-key.js";
import { Icon } from "../icon.js";

export interface ReviewActionsProps {
  readonly review: StoredReview;
  readonly comment: string;
  readonly onComment: (comment: string) => void;
  /** Whether the person may answer now. */
  readonly isOpen: boolean;
  /** Whether there is an edit to send. */
  readonly isEdited: boolean;
  /** Whether the edit is valid. */
  readonly isReady: boolean;
  readonly approve: () => void;
  readonly edit: () => void;
  /** Ends the run, or refuses the call. */
  readonly finish: () => void;
}

/** The comment and the buttons. Ctrl+Enter triggers the green button. */
export function ReviewActions(props: ReviewActionsProps): JSX.Element {
  const { review, comment, onComment, isOpen, isEdited, isReady, approve, edit, finish } = props;
  const words = wordsOf(review);
  const approveWord =
    isEdited && kindOf(review) !== "question" ? "Approve as it was" : words.approve;
  return (
    <footer class="rv-foot">
      <div class="field grow">
        <label class="faint" for="review-comment">
          Comment, kept with the decision
        </label>
        <input
          id="review-comment"
          value={comment}
          maxLength={2_000}
          onInput={(event) => onComment(event.currentTarget.value)}
        />
      </div>
      <div class="row actions">
        <button type="button" class="btn danger big" disabled={!isOpen} onClick={finish}>
          <Icon name="stop" />
          {words.end} <kbd>X</kbd>
        </button>
        <button
          type="button"
          class={isEdited ? "btn big" : "btn ok big"}
          disabled={!isOpen}
          onClick={approve}
        >
          {!isEdited && <Icon name="done" />}
          {approveWord} <kbd>A</kbd>
        </button>
        {isEdited && (
          <button type="button" class="btn ok big" disabled={!isOpen || !isReady} onClick={edit}>
            <Icon name="done" />
            {words.edit} <SendKey />
          </button>
        )}
      </div>
    </footer>
  );
}
