import type { ComponentChildren, JSX } from "preact";
import type { StoredReview } from "../../../../src/contracts/review.js";
import type { AnsweredReview } from "../../../../src/plugins/dashboard/protocol/messages.js";
import { formatAgo } from "../../lib/format.js";
import { decisionWord, endOf, kindOf } from "../../lib/reviews/review-words.js";
import { hrefOf } from "../../lib/route.js";
import { useBoard } from "../../stores/board.js";
import { Notice } from "../notice.js";
import { Text } from "../text.js";
import type { Sending } from "./use-answer.js";

export interface OutcomeProps {
  readonly review: StoredReview;
  readonly state: Sending;
  readonly end: AnsweredReview | undefined;
  readonly isOver: boolean;
  /** The reason why the user may not answer. */
  readonly refusal: string | undefined;
}

/** The result of a review or of an answer, and the reason why an answer is not possible. */
export function Outcome(props: OutcomeProps): JSX.Element | null {
  const { review, state, end, isOver, refusal } = props;
  if (state.kind === "applied")
    return (
      <Over>
        <b>Your answer was used:</b> {appliedWord(review, state.decision)}.
      </Over>
    );
  if (state.kind === "refused" && (state.refusal.kind === "over" || !isOver)) {
    const { kind, title, text } = state.refusal;
    const words = (
      <>
        <b>
          <Text>{title}</Text>
        </b>{" "}
        <Text>{text}</Text>
      </>
    );
    if (kind === "over") return <Over>{words}</Over>;
    return (
      <Notice kind="failed" isUrgent>
        {words}
      </Notice>
    );
  }
  if (isOver) return <Ended end={end} />;
  if (refusal === undefined) return null;
  return (
    <Notice kind="waiting" icon="shield">
      <Text>{refusal}</Text> Others may answer while you watch.
    </Notice>
  );
}

function appliedWord(review: StoredReview, decision: string): string {
  const kind = kindOf(review);
  if (kind === "call" && decision === "exit_early") return "the call is not made";
  if (kind === "question" && decision === "edit") return "the answer was sent";
  return decisionWord(decision);
}

/** A review that another user answered, or that expired, while it was open here. */
function Ended({ end }: Pick<OutcomeProps, "end">): JSX.Element {
  const { clock } = useBoard();
  if (end === undefined)
    return (
      <Over>
        <b>This review no longer waits.</b> Its run has ended, or it was answered elsewhere.
      </Over>
    );
  const { at, comment = "" } = end;
  return (
    <Over>
      <b>
        <Text>{endOf(end)}</Text>
      </b>
      , {formatAgo(Date.parse(at), clock.seconds.value)}.{" "}
      {comment !== "" && (
        <>
          “<Text>{comment}</Text>”
        </>
      )}
    </Over>
  );
}

/** A notice with a link to the next review. */
function Over({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const next = useBoard().reviews.pending.value[0];
  const href = hrefOf(next === undefined ? ["reviews"] : ["reviews", next.reviewId]);
  return (
    <Notice
      kind="info"
      icon="done"
      isUrgent
      action={
        <a class="btn" href={href}>
          {next === undefined ? "All reviews" : "Next review"}
        </a>
      }
    >
      {children}
    </Notice>
  );
}
