import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { StoredReview } from "../../../src/contracts/review.js";
import { Empty } from "../components/empty.js";
import { AnsweredList } from "../components/review/answered-list.js";
import { NotifyBox } from "../components/review/notify-box.js";
import { ReviewDetail } from "../components/review/review-detail.js";
import { ReviewList } from "../components/review/review-list.js";
import { Tabs } from "../components/tabs.js";
import { useKeys } from "../hooks/use-keys.js";
import { hrefOf } from "../lib/route.js";
import { useBoard } from "../stores/board.js";

export interface ReviewsViewProps {
  /** The id of the review in the address. */
  readonly reviewId: string | undefined;
}

/**
 * Windows that can show the list and a review next to each other. Such a window opens the first
 * review.
 */
const WIDE = "(min-width: 901px)";

/** The waiting and the answered reviews. */
export function ReviewsView({ reviewId }: ReviewsViewProps): JSX.Element {
  const { reviews, route } = useBoard();
  const [tab, setTab] = useState<"waiting" | "answered">("waiting");
  const pending = reviews.pending.value;
  const known = useKnown(pending);
  const review = reviewId === undefined ? undefined : known.get(reviewId);
  const firstId = pending[0]?.reviewId;
  useEffect(() => {
    if (reviewId === undefined && firstId !== undefined && window.matchMedia(WIDE).matches)
      route.go(hrefOf(["reviews", firstId]), "replace");
  }, [reviewId, firstId]);
  const move = (step: number): void => {
    const place = pending.findIndex((one) => one.reviewId === review?.reviewId);
    const next = pending[Math.min(Math.max(0, place + step), pending.length - 1)];
    if (next !== undefined) route.go(hrefOf(["reviews", next.reviewId]));
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  const answered = reviews.answered.value;
  return (
    <main class={reviewId === undefined ? "rv list" : "rv one"}>
      <section class="pane rv-side" aria-label="Reviews">
        <Tabs
          label="Reviews"
          panel="review-list"
          selected={tab}
          onSelect={setTab}
          tabs={[
            { id: "waiting", title: "Waiting", extra: <Count of={pending.length} isHot /> },
            { id: "answered", title: "Answered", extra: <Count of={answered.length} /> },
          ]}
        />
        <div class="scroll" id="review-list" role="tabpanel" aria-label="Reviews" tabIndex={0}>
          {tab === "waiting" ? <ReviewList selected={reviewId} /> : <AnsweredList />}
          <NotifyBox />
        </div>
      </section>
      {review === undefined ? (
        <Nothing reviewId={reviewId} />
      ) : (
        <ReviewDetail
          key={review.reviewId}
          review={review}
          end={answered.find((one) => one.reviewId === review.reviewId)}
          isOver={!pending.some((one) => one.reviewId === review.reviewId)}
          waiting={pending.length}
        />
      )}
    </main>
  );
}

/**
 * Returns the reviews that this page has received. A review that another user answered remains
 * readable.
 */
function useKnown(pending: readonly StoredReview[]): ReadonlyMap<string, StoredReview> {
  const known = useRef(new Map<string, StoredReview>());
  for (const review of pending) known.current.set(review.reviewId, review);
  return known.current;
}

function Nothing({ reviewId }: ReviewsViewProps): JSX.Element {
  const { reviews } = useBoard();
  const end = reviews.answered.value.find((one) => one.reviewId === reviewId);
  const isUnknown = reviewId !== undefined && reviews.isKnown.value;
  return (
    <section class="pane rv-detail" aria-label="Review">
      <a class="back" href={hrefOf(["reviews"])}>
        All reviews
      </a>
      {isUnknown && (
        <Empty
          icon="search"
          title={end === undefined ? "There is no such review" : "This review has ended"}
        >
          <p>
            {end === undefined
              ? "Its run has ended, or the program was started again."
              : "It has an answer, or its time is up."}
          </p>
          {end !== undefined && (
            <a class="link" href={hrefOf(["runs", end.runId], { view: "graph", task: end.taskId })}>
              Open its task
            </a>
          )}
        </Empty>
      )}
    </section>
  );
}

function Count(props: { readonly of: number; readonly isHot?: boolean }): JSX.Element | null {
  if (props.of === 0) return null;
  return <b class={props.isHot === true ? "count hot" : "count"}>{props.of}</b>;
}
