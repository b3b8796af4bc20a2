import type { JSX } from "preact";
import type { StoredReview } from "../../../../src/contracts/review.js";
import { kindOf, shareLeft, titleOf, wordsOf } from "../../lib/reviews/review-words.js";
import { hrefOf } from "../../lib/route.js";
import { useBoard } from "../../stores/board.js";
import { Chip } from "../chip.js";
import { Countdown } from "../countdown.js";
import { Empty } from "../empty.js";
import { ProcessChip } from "../process-chip.js";
import { Text } from "../text.js";

/** The reviews that wait, nearest deadline first. */
export function ReviewList(props: { readonly selected: string | undefined }): JSX.Element {
  const { reviews } = useBoard();
  const pending = reviews.pending.value;
  if (pending.length === 0)
    return (
      <Empty icon="done" title="No review waits">
        {reviews.isKnown.value && <p>A review appears here as soon as a run asks for one.</p>}
      </Empty>
    );
  return (
    <>
      <ul class="rv-list">
        {pending.map((review) => (
          <li key={review.reviewId}>
            <Item review={review} isSelected={review.reviewId === props.selected} />
          </li>
        ))}
      </ul>
      <p class="faint rv-hint hide-s">
        Nearest deadline first. <kbd>J</kbd> <kbd>K</kbd> to move.
      </p>
    </>
  );
}

interface ItemProps {
  readonly review: StoredReview;
  readonly isSelected: boolean;
}

function Item({ review, isSelected }: ItemProps): JSX.Element {
  const { runs, clock } = useBoard();
  const { reviewId, runId, taskId, toolName, requiredRole } = review;
  const run = runs.summaryOf(runId);
  const isCall = kindOf(review) === "call";
  const left = shareLeft(review, clock.seconds.value);
  return (
    <a
      class="rv-item"
      href={hrefOf(["reviews", reviewId])}
      aria-current={isSelected ? "true" : undefined}
    >
      <span class="row">
        <Chip kind={isCall ? "tool" : "waiting"} icon={isCall ? "tool" : "waiting"}>
          {wordsOf(review).label}
        </Chip>
        <b class="clip grow">
          <Text>{isCall ? (toolName ?? taskId) : taskId}</Text>
        </b>
        <Rest review={review} isSoon={left !== undefined && left < 0.25} />
      </span>
      <span class="clip">
        <Text>{titleOf(review)}</Text>
      </span>
      <span class="row muted">
        <span class="clip grow">
          <Text>{run?.ensemble ?? runId}</Text>
        </span>
        <ProcessChip process={run?.process} isAway={run?.isAway} />
        {requiredRole !== undefined && (
          <Chip kind="line">
            <Text>{requiredRole}</Text>
          </Chip>
        )}
      </span>
      {left !== undefined && (
        <span class="meter" aria-hidden="true">
          <i class="waiting" style={{ width: `${left * 100}%` }} />
        </span>
      )}
    </a>
  );
}

function Rest(props: { readonly review: StoredReview; readonly isSoon: boolean }): JSX.Element {
  const { deadline } = props.review;
  if (deadline === undefined) return <span class="faint nowrap">no limit</span>;
  return (
    <b class={props.isSoon ? "nowrap hot" : "nowrap warm"}>
      <Countdown to={deadline} after="" />
    </b>
  );
}
