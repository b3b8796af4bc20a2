import type { JSX } from "preact";
import type { TaskState } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import type { TimelineRow } from "../../lib/timeline/rows.js";
import type { OpenRun } from "../../stores/open-run-store.js";
import { VirtualRows } from "../virtual-rows.js";
import { placeOf } from "./axis.js";
import { Lane, type LaneProps } from "./lane.js";
import { RowName } from "./row-name.js";
import type { TimelineRows } from "./use-rows.js";

const ROW = 34;

export interface RowsProps {
  readonly run: OpenRun;
  readonly list: TimelineRows;
  readonly lanes: Omit<LaneProps, "tasks">;
  /** The selected task. */
  readonly taskId: string | undefined;
  /** Receives the ids of the tasks with visible rows. */
  readonly visible: { current: readonly string[] };
  readonly head: JSX.Element;
  /** The current time of a run in progress. */
  readonly live: number | undefined;
  readonly onTask: (taskId: string | undefined) => void;
  /** Called with keys that do not select a row. */
  readonly onKey: (event: KeyboardEvent) => void;
}

/** The rows. The keys up and down select one. */
export function Rows(props: RowsProps): JSX.Element {
  const { list, taskId, visible, head, onTask, onKey } = props;
  const { rows } = list;
  const selected =
    taskId === undefined ? -1 : rows.findIndex((row) => row.taskIds.includes(taskId));
  const move = (step: number): void =>
    onTask(rows[Math.min(Math.max(0, selected + step), rows.length - 1)]?.taskIds[0]);
  const seen: string[] = [];
  visible.current = seen;
  return (
    <div
      class="tl-rows"
      onKeyDown={(event) => {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (step === undefined) {
          onKey(event);
          return;
        }
        event.preventDefault();
        move(step);
      }}
    >
      <VirtualRows
        label="Timeline"
        role="treegrid"
        count={rows.length}
        rowHeight={ROW}
        shown={selected}
        head={head}
        row={(i, style) => {
          const row = rows[i];
          if (row === undefined) return null;
          seen.push(...row.taskIds);
          return (
            <Row
              key={row.key}
              {...props}
              {...{ row, style }}
              place={i}
              isSelected={i === selected}
            />
          );
        }}
      />
    </div>
  );
}

interface RowProps extends RowsProps {
  readonly row: TimelineRow;
  readonly place: number;
  readonly isSelected: boolean;
  readonly style: { readonly top: string; readonly height: string };
}

function Row(props: RowProps): JSX.Element {
  const { run, list, lanes, live, onTask, row, place, isSelected, style } = props;
  const { tasks, summary } = run.view;
  const own = row.taskIds.map((id) => tasks.get(id)).filter(isTask);
  return (
    <div
      role="row"
      class="tl-row"
      style={style}
      aria-level={row.depth + 1}
      aria-selected={isSelected}
    >
      <div role="gridcell" class="name" onClick={() => onTask(row.taskIds[0])}>
        <RowName
          row={row}
          task={own[0]}
          currency={summary.totals.currency}
          isClosed={list.parents.has(row.key) ? list.closed.has(row.key) : undefined}
          onToggle={() => list.toggle(row.key)}
        />
      </div>
      <div role="gridcell" class="lane" data-row={place}>
        <Lane tasks={own} {...lanes} />
        {live !== undefined && <i class="now" style={{ left: placeOf(live, lanes.span) }} />}
      </div>
    </div>
  );
}

function isTask(task: TaskState | undefined): task is TaskState {
  return task !== undefined;
}
