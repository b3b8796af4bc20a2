import type { JSX } from "preact";
import type { StoredReview } from "../../../../src/contracts/review.js";
import { afterwards, kindOf, titleOf, type ReviewKind } from "../../lib/reviews/review-words.js";
import { hrefOf } from "../../lib/route.js";
import { shortId } from "../../lib/run-words.js";
import { useBoard } from "../../stores/board.js";
import { Chip } from "../chip.js";
import { Countdown } from "../countdown.js";
import { Icon } from "../icon.js";
import { ProcessChip } from "../process-chip.js";
import { Text } from "../text.js";

export interface ReviewHeadProps {
  readonly review: StoredReview;
  readonly waiting: number;
  readonly isOver: boolean;
}

/** The question, its author, and the remaining time. */
export function ReviewHead({ review, waiting, isOver }: ReviewHeadProps): JSX.Element {
  const { deadline, prompt = "", taskDescription } = review;
  const kind = kindOf(review);
  const isAboutTask = kind === "before" || kind === "after";
  const more = isAboutTask ? taskDescription : kind === "call" ? prompt : "";
  return (
    <header class="rv-head">
      <a class="back" href={hrefOf(["reviews"])}>
        <Icon name="close" />
        {waiting} waiting
      </a>
      <div class="row wrap">
        <h1 class="grow">
          <Text>{titleOf(review)}</Text>
        </h1>
        {!isOver && (
          <Chip kind="waiting" icon="clock">
            {deadline === undefined ? (
              "no time limit"
            ) : (
              <span>
                <Countdown to={deadline} />, then {afterwards(review)}
              </span>
            )}
          </Chip>
        )}
      </div>
      <Asker review={review} kind={kind} />
      {more !== "" && (
        <p class="muted rv-task">
          <Text>{more}</Text>
        </p>
      )}
    </header>
  );
}

const WANTS: Readonly<Record<ReviewKind, string>> = {
  before: "is to begin",
  after: "has finished",
  call: "wants to call",
  question: "asks in",
};

interface AskerProps {
  readonly review: StoredReview;
  readonly kind: ReviewKind;
}

/** The author of the question, with links to the task and the run. */
function Asker({ review, kind }: AskerProps): JSX.Element {
  const { runs } = useBoard();
  const { runId, taskId, agentRole, toolName = "" } = review;
  const run = runs.summaryOf(runId);
  return (
    <p class="muted">
      The agent{" "}
      <b>
        <Text>{agentRole}</Text>
      </b>{" "}
      {WANTS[kind]}{" "}
      {kind === "call" && (
        <>
          <code>
            <Text>{toolName}</Text>
          </code>{" "}
          in{" "}
        </>
      )}
      task{" "}
      <a class="link" href={hrefOf(["runs", runId], { view: "graph", task: taskId })}>
        <Text>{taskId}</Text>
      </a>{" "}
      of{" "}
      <a class="link" href={hrefOf(["runs", runId])}>
        <Text>{run?.ensemble ?? "run"}</Text> <code>{shortId(run ?? { runId })}</code>
      </a>
      . <ProcessChip process={run?.process} isAway={run?.isAway} />
    </p>
  );
}
