import type { JSX } from "preact";
import { formatCost, formatDuration } from "../lib/format.js";
import type { TaskRow } from "../lib/task-rows.js";
import { taskMs, taskTitle, taskWorker, tokensText } from "../lib/task-words.js";
import { visibleText } from "../lib/visible-text.js";
import { Chip } from "./chip.js";
import { State } from "./state.js";

export interface TaskTableRowProps {
  readonly row: TaskRow;
  readonly style: { readonly top: string; readonly height: string };
  readonly href: string;
  readonly isCurrent: boolean;
  /** Milliseconds since the run's start. */
  readonly nowMs: number;
  readonly currency: string | undefined;
}

/** One task in the table. */
export function TaskTableRow(props: TaskTableRowProps): JSX.Element {
  const { row, style, href, isCurrent, nowMs, currency } = props;
  const { task, depth } = row;
  const ms = taskMs(task, nowMs);
  const tokens = task.inputTokens + task.outputTokens;
  return (
    <div class="task-row" role="row" style={style} {...(isCurrent && { "aria-selected": true })}>
      <span class="c-task row" role="gridcell" style={{ paddingLeft: `${depth * 16}px` }}>
        <a class="clip" href={href} title={visibleText(task.description)}>
          {taskTitle(task)}
        </a>
        {task.attempt > 1 && (
          <Chip kind="waiting" icon="retry" title={`Attempt ${task.attempt}`}>
            {task.attempt}
          </Chip>
        )}
      </span>
      <span class="c-state" role="gridcell">
        <State state={task.state} />
        {task.error !== undefined && task.state === "failed" && (
          <code class="clip faint" title={visibleText(task.error.message)}>
            {task.error.code}
          </code>
        )}
      </span>
      <span class="c-agent clip muted" role="gridcell">
        {taskWorker(task)}
      </span>
      <span class="num" role="gridcell">
        {ms !== undefined && formatDuration(ms)}
      </span>
      <span class="num" role="gridcell">
        {(tokens > 0 || task.unknownCalls > 0) && tokensText(tokens, task.unknownCalls)}
      </span>
      <span class="num" role="gridcell">
        {task.cost > 0 && formatCost(task.cost, currency)}
      </span>
    </div>
  );
}
