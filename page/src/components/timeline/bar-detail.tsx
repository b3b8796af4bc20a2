import type { JSX } from "preact";
import type { Bar, TaskState } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import { formatDuration } from "../../lib/format.js";
import { BAR_WORDS, SPENT_WORDS } from "../../lib/timeline/bar-words.js";
import { timeSpent } from "../../lib/timeline/time-spent.js";
import { taskTitle } from "../../lib/task-words.js";
import { State } from "../state.js";

export interface BarDetailProps {
  readonly task: TaskState;
  readonly bars: readonly Bar[];
  /** The index of the selected bar. `undefined`: the complete task. */
  readonly bar: number | undefined;
  readonly nowMs: number;
}

/** The use of the time of a task, and the start and end of the selected bar. */
export function BarDetail({ task, bars, bar, nowMs }: BarDetailProps): JSX.Element {
  const { wholeMs, parts } = timeSpent(bars, nowMs);
  const chosen = bar === undefined ? undefined : bars[bar];
  const share = (ms: number): number => (wholeMs === 0 ? 0 : (ms / wholeMs) * 100);
  return (
    <section class="bar-detail" aria-label="Time of the task" aria-live="polite">
      <div class="row wrap">
        <State state={task.state} isIcon />
        <b class="clip">{taskTitle(task)}</b>
        {chosen !== undefined && <ChosenBar bar={chosen} nowMs={nowMs} />}
        {chosen === undefined && task.startMs !== undefined && (
          <span class="muted">
            {`${formatDuration(task.startMs)} to ${formatDuration(task.endMs ?? nowMs)}`}
          </span>
        )}
      </div>
      {wholeMs > 0 && (
        <>
          <h3>{`Where the time of this task went: ${formatDuration(wholeMs)}`}</h3>
          <div class="stack" role="img" aria-label={partsText(parts)}>
            {parts.map(({ kind, ms }) => (
              <i key={kind} class={kind} style={{ width: `${share(ms)}%` }} />
            ))}
          </div>
          <div class="legend" aria-hidden="true">
            {parts.map(({ kind, ms }) => (
              <span key={kind}>
                <i class={kind} />
                {`${SPENT_WORDS[kind]} ${formatDuration(ms)}`}
              </span>
            ))}
          </div>
        </>
      )}
    </section>
  );
}

function ChosenBar(props: { readonly bar: Bar; readonly nowMs: number }): JSX.Element {
  const { bar, nowMs } = props;
  const end = bar.endMs ?? nowMs;
  const times = `${formatDuration(bar.startMs)} to ${formatDuration(end)}`;
  return (
    <span class="muted">
      {`${BAR_WORDS[bar.kind]} · ${times} · ${formatDuration(end - bar.startMs)}`}
      {bar.endMs === undefined && " so far"}
    </span>
  );
}

function partsText(parts: ReturnType<typeof timeSpent>["parts"]): string {
  return parts.map(({ kind, ms }) => `${SPENT_WORDS[kind]} ${formatDuration(ms)}`).join(", ");
}
