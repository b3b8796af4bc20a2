import type { JSX } from "preact";
import type { TaskState } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import { counted, formatCost } from "../../lib/format.js";
import type { TimelineRow } from "../../lib/timeline/rows.js";
import { taskTitle, taskWorker } from "../../lib/task-words.js";
import { State } from "../state.js";
import { Text } from "../text.js";

export interface RowNameProps {
  readonly row: TimelineRow;
  readonly task: TaskState | undefined;
  readonly currency: string | undefined;
  /** Whether the children are hidden. `undefined`: the row has no children. */
  readonly isClosed: boolean | undefined;
  readonly onToggle: () => void;
}

/** The label of a lane: a task, or the agent of the following rows. */
export function RowName(props: RowNameProps): JSX.Element {
  const { row, task, currency, isClosed, onToggle } = props;
  const { agent, depth } = row;
  if (agent !== undefined)
    return (
      <>
        <b class="clip grow">
          <Text>{agent.role}</Text>
        </b>
        <span class="faint nowrap">{counted(agent.tasks, "task")}</span>
      </>
    );
  if (task === undefined || row.taskIds.length > 1) return <span class="faint">″</span>;
  return (
    <>
      {depth > 0 && <span style={{ width: `${Math.min(depth, 6) * 14}px`, flex: "none" }} />}
      {isClosed !== undefined && (
        <button
          type="button"
          class="fold"
          tabIndex={-1}
          aria-label={isClosed ? `Show what is below ${task.id}` : `Hide what is below ${task.id}`}
          onClick={(event) => {
            event.stopPropagation(); // does not select the row
            onToggle();
          }}
        >
          {isClosed ? "▸" : "▾"}
        </button>
      )}
      <State state={task.state} isIcon />
      <span class="clip grow" title={task.description}>
        <b>{taskTitle(task)}</b> <span class="faint">{taskWorker({ role: task.role })}</span>
      </span>
      {task.cost > 0 && <span class="faint nowrap hide-s">{formatCost(task.cost, currency)}</span>}
    </>
  );
}
