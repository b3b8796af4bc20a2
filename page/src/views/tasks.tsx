import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { WorkState } from "../../../src/contracts/run-store.js";
import { Chip } from "../components/chip.js";
import { Empty } from "../components/empty.js";
import { Icon } from "../components/icon.js";
import { TaskTableRow } from "../components/task-table-row.js";
import { VirtualRows } from "../components/virtual-rows.js";
import { useKeys } from "../hooks/use-keys.js";
import { hrefOf } from "../lib/route.js";
import { runMs } from "../lib/run-words.js";
import { taskRows, type TaskFilter, type TaskOrder } from "../lib/task-rows.js";
import { useBoard } from "../stores/board.js";
import type { RunViewProps } from "./run-view-props.js";

const COLUMNS: readonly (readonly [order: TaskOrder | undefined, title: string, look: string])[] = [
  ["plan", "Task", "c-task"],
  ["state", "State", "c-state"],
  [undefined, "Agent", "c-agent"],
  ["time", "Time", "num"],
  ["tokens", "Tokens", "num"],
  ["cost", "Cost", "num"],
];

const ROW_HEIGHT = 36;

/** The tasks of a run as a table of any length. */
export function TasksView({ run, taskId, onTask }: RunViewProps): JSX.Element {
  const { route, clock } = useBoard();
  const [order, setOrder] = useState<TaskOrder>("plan");
  const { query, path } = route.current.value;
  const { tasks, summary } = run.view;
  const nowMs = runMs(summary, summary.endedAt === undefined ? clock.seconds.value : clock.now());
  const filter = filterOf(query);
  const rows = taskRows(tasks.values(), filter, order, nowMs);
  const place = rows.findIndex(({ task }) => task.id === taskId);
  const move = (step: number): void => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, place + step))];
    if (next !== undefined) onTask(next.task.id);
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  return (
    <>
      <FilterBar filter={filter} counts={summary.counts} />
      {rows.length === 0 && <Empty title={tasks.size === 0 ? "No tasks yet" : "No task fits"} />}
      <VirtualRows
        label="Tasks"
        role="grid"
        class="task-table"
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        shown={place < 0 ? undefined : place}
        head={<Head order={order} onOrder={setOrder} />}
        row={(i, style) => {
          const row = rows[i];
          if (row === undefined) return null;
          return (
            <TaskTableRow
              key={row.task.id}
              row={row}
              style={style}
              href={hrefOf(path, { ...query, task: row.task.id, call: undefined })}
              isCurrent={row.task.id === taskId}
              nowMs={nowMs}
              currency={summary.totals.currency}
            />
          );
        }}
      />
    </>
  );
}

function filterOf(query: Readonly<Record<string, string>>): TaskFilter {
  const level = Number.parseInt(query["level"] ?? "", 10);
  return {
    state: query["state"],
    kind: query["kind"],
    text: query["text"],
    level: Number.isNaN(level) ? undefined : level,
  };
}

interface HeadProps {
  readonly order: TaskOrder;
  readonly onOrder: (order: TaskOrder) => void;
}

function Head({ order, onOrder }: HeadProps): JSX.Element {
  return (
    <div class="task-row head">
      {COLUMNS.map(([column, title, look]) => (
        <span key={title} class={look}>
          {column === undefined ? (
            title
          ) : (
            <button
              type="button"
              class="sort"
              aria-pressed={column === order}
              onClick={() => onOrder(column)}
            >
              {title}
              {column === order && column !== "plan" && " ↓"}
            </button>
          )}
        </span>
      ))}
    </div>
  );
}

interface FilterBarProps {
  readonly filter: TaskFilter;
  readonly counts: Readonly<Record<WorkState, number>>;
}

/** The current filter, and the other possible filters. */
function FilterBar({ filter, counts }: FilterBarProps): JSX.Element {
  const { route } = useBoard();
  const { state, kind, level, text } = filter;
  return (
    <div class="row wrap pane-bar">
      <label class="find">
        <Icon name="search" />
        <input
          value={text ?? ""}
          placeholder="Name, agent, model"
          aria-label="Filter of the tasks"
          onInput={(event) => route.patch({ text: event.currentTarget.value }, "replace")}
        />
      </label>
      {(Object.keys(counts) as WorkState[]) // its keys are the states
        .filter((name) => counts[name] > 0)
        .map((name) => (
          <button
            key={name}
            type="button"
            class="btn"
            aria-pressed={state === name}
            onClick={() => route.patch({ state: state === name ? undefined : name })}
          >
            {name} <span class="faint">{counts[name].toLocaleString("en")}</span>
          </button>
        ))}
      {(kind !== undefined || level !== undefined) && (
        <Chip kind="line">
          {[kind, level !== undefined && `level ${level}`].filter(Boolean).join(", ")}
          <button
            type="button"
            class="sort"
            aria-label="Remove the filter"
            onClick={() => route.patch({ kind: undefined, level: undefined })}
          >
            <Icon name="close" />
          </button>
        </Chip>
      )}
    </div>
  );
}
