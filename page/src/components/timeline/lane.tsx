import type { JSX } from "preact";
import type { TaskState } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import { formatDuration } from "../../lib/format.js";
import type { Span } from "../../lib/timeline/axis.js";
import { barClass, BAR_WORDS } from "../../lib/timeline/bar-words.js";
import { boxesOf, type Box } from "../../lib/timeline/boxes.js";
import type { BarsOf } from "./use-bars.js";

export interface LaneProps {
  readonly tasks: readonly TaskState[];
  readonly bars: BarsOf;
  readonly span: Span;
  readonly nowMs: number;
  /** The selected bar, by its task and its index among its bars. */
  readonly chosen: { readonly taskId: string; readonly bar: number } | undefined;
}

/** The bars of a row. */
export function Lane({ tasks, bars, span, nowMs, chosen }: LaneProps): JSX.Element {
  return (
    <>
      {tasks.map((task) => (
        <TaskBars key={task.id} {...{ task, bars, span, nowMs, chosen }} />
      ))}
    </>
  );
}

interface TaskBarsProps extends Omit<LaneProps, "tasks"> {
  readonly task: TaskState;
}

function TaskBars({ task, bars, span, nowMs, chosen }: TaskBarsProps): JSX.Element | null {
  const { id, state, startMs, endMs } = task;
  if (startMs === undefined) return null;
  const own = bars(id);
  // The bars of large runs arrive later than their tasks.
  const whole = own.length === 0 ? [{ kind: "task" as const, startMs, endMs }] : own;
  const boxes = boxesOf(whole, span, nowMs);
  const end = endMs ?? nowMs;
  const endAt = ((end - span.from) / (span.to - span.from)) * 100;
  return (
    <>
      {boxes.map((box) => (
        <i
          key={box.index}
          class={box.kind === "task" ? `task ${state}` : `c ${barClass(box.kind)}`}
          aria-current={chosen?.taskId === id && chosen.bar === box.index ? "true" : undefined}
          style={{ left: `${box.left}%`, width: `${box.width}%` }}
          title={titleOf(box)}
        />
      ))}
      {endAt >= 0 && endAt <= 100 && (
        <span class={endAt > 88 ? "dur inside" : "dur"} style={{ left: `${endAt}%` }}>
          {formatDuration(end - startMs)}
        </span>
      )}
    </>
  );
}

function titleOf({ kind, count }: Box): string {
  return count === 1 ? BAR_WORDS[kind] : `${BAR_WORDS[kind]}, ${count} of them`;
}
