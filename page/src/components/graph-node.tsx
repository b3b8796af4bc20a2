import type { JSX } from "preact";
import type { StoredReview } from "../../../src/contracts/review.js";
import type { TaskState } from "../../../src/plugins/dashboard/protocol/state-types.js";
import type { Rect } from "../lib/graph-layout.js";
import { placeStyle } from "../lib/place-style.js";
import { taskFigures, taskTitle, taskWorker } from "../lib/task-words.js";
import { visibleText } from "../lib/visible-text.js";
import { Chip } from "./chip.js";
import { Countdown } from "./countdown.js";
import { State } from "./state.js";

export interface GraphNodeProps {
  readonly task: TaskState;
  readonly rect: Rect;
  readonly href: string;
  readonly isCurrent: boolean;
  /** The number of hidden tasks that the task caused. */
  readonly folded: number;
  /** Milliseconds since the run's start. */
  readonly nowMs: number;
  readonly currency: string | undefined;
  readonly review: StoredReview | undefined;
}

/** A task in the graph. */
export function GraphNode(props: GraphNodeProps): JSX.Element {
  const { task, rect, href, isCurrent, folded } = props;
  return (
    <a
      href={href}
      class={`node ${task.state}`}
      style={placeStyle(rect)}
      title={`${visibleText(task.id)}\n${visibleText(task.description)}`}
      draggable={false}
      {...(isCurrent && { "aria-current": true as const })}
    >
      <span class="row">
        <State state={task.state} isIcon />
        <b class="clip grow">{taskTitle(task)}</b>
        {folded > 0 && (
          <Chip kind="delegate" icon="handoff" title={`${folded} delegated tasks`}>
            {folded}
          </Chip>
        )}
        {task.attempt > 1 && (
          <Chip kind="waiting" icon="retry" title={`Attempt ${task.attempt}`}>
            {task.attempt}
          </Chip>
        )}
      </span>
      <small class="clip">{taskWorker(task)}</small>
      <small class="clip faint">
        <LastLine {...props} />
      </small>
    </a>
  );
}

/** The most important information: the question, the error, or the figures. */
function LastLine({ task, review, nowMs, currency }: GraphNodeProps): JSX.Element {
  if (task.state === "waiting") {
    if (review?.deadline === undefined) return <>waits for review</>;
    return (
      <>
        review · <Countdown to={review.deadline} />
      </>
    );
  }
  if (task.state === "failed" && task.error !== undefined)
    return <span class="st failed">{task.error.code || visibleText(task.error.message)}</span>;
  if (task.state === "idle") return <>not started</>;
  return <>{taskFigures(task, nowMs, currency)}</>;
}
