import type { JSX } from "preact";
import type { AnsweredReview } from "../../../../src/plugins/dashboard/protocol/messages.js";
import { formatAgo } from "../../lib/format.js";
import { decisionWord, endOf } from "../../lib/reviews/review-words.js";
import { hrefOf } from "../../lib/route.js";
import { useBoard } from "../../stores/board.js";
import { Empty } from "../empty.js";
import { State } from "../state.js";
import { Text } from "../text.js";

/** The last reviews that were answered or have expired. */
export function AnsweredList(): JSX.Element {
  const answered = useBoard().reviews.answered.value;
  if (answered.length === 0)
    return (
      <Empty icon="user" title="No review has been answered yet">
        <p>The last 100 are listed here.</p>
      </Empty>
    );
  return (
    <ul class="rv-list">
      {answered.map((review) => (
        <li key={review.reviewId}>
          <Item review={review} />
        </li>
      ))}
    </ul>
  );
}

function Item({ review }: { readonly review: AnsweredReview }): JSX.Element {
  const { runs, clock } = useBoard();
  const { runId, taskId, decision, timedOut, comment = "", at } = review;
  const state = decision === "FAIL" ? "failed" : decision === "EXIT_EARLY" ? "stopped" : "done";
  return (
    <a class="rv-item" href={hrefOf(["runs", runId], { view: "graph", task: taskId })}>
      <span class="row">
        <State state={timedOut ? "stopped" : state} isIcon word={decisionWord(decision)} />
        <b class="clip grow">
          <Text>{taskId}</Text>
        </b>
        <span class="faint nowrap">{formatAgo(Date.parse(at), clock.seconds.value)}</span>
      </span>
      <span class="clip">
        <Text>{endOf(review)}</Text>
      </span>
      {comment !== "" && (
        <span class="muted clip">
          “<Text>{comment}</Text>”
        </span>
      )}
      <span class="muted clip">
        <Text>{runs.summaryOf(runId)?.ensemble ?? runId}</Text>
      </span>
    </a>
  );
}
