import type { JSX } from "preact";
import type { TaskComparison } from "../../../src/plugins/dashboard/protocol/compare.js";
import type { CompareBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { Chip } from "../components/chip.js";
import { CompareHead } from "../components/compare/compare-head.js";
import { CompareTask } from "../components/compare/compare-task.js";
import { Empty } from "../components/empty.js";
import { Notice } from "../components/notice.js";
import { Split } from "../components/split.js";
import { VirtualRows } from "../components/virtual-rows.js";
import { useFetched } from "../hooks/use-fetched.js";
import { useKeys } from "../hooks/use-keys.js";
import { errorWords } from "../lib/api-words.js";
import { changeOf, kindWord } from "../lib/compare-words.js";
import { formatCost, formatDuration } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";

const ROW_HEIGHT = 38;

/** Compares two runs task by task: `#/compare?a=&b=`. */
export function CompareView(): JSX.Element {
  const { a, b } = useBoard().route.current.value.query;
  if (a === undefined || b === undefined)
    return (
      <main class="page">
        <Empty icon="compare" title="Compare two runs">
          <p>Select two runs in the list: by their boxes, or with the key X.</p>
          <a class="btn" href={hrefOf(["runs"])}>
            All runs
          </a>
        </Empty>
      </main>
    );
  return <Compared key={`${a}\n${b}`} a={a} b={b} />;
}

function Compared({ a, b }: { readonly a: string; readonly b: string }): JSX.Element {
  const [x, y] = [encodeURIComponent(a), encodeURIComponent(b)];
  const state = useFetched<CompareBody>([`/api/compare?a=${x}&b=${y}`]);
  if (state.kind === "failed")
    return (
      <main class="page">
        <Notice kind="failed">{errorWords(state.error)}</Notice>
      </main>
    );
  const found = state.kind === "ready" ? state.bodies[0] : undefined;
  if (found === undefined)
    return (
      <main class="page">
        <p class="muted">Comparing the runs …</p>
      </main>
    );
  return <Comparison found={found} />;
}

const idOf = ({ a, b }: TaskComparison): string => `${a?.taskId ?? ""}|${b?.taskId ?? ""}`;

function Comparison({ found }: { readonly found: CompareBody }): JSX.Element {
  const { route } = useBoard();
  const { tasks, a, b } = found;
  const named = route.current.value.query["task"];
  const place = tasks.findIndex((task) => idOf(task) === named);
  const show = (task: TaskComparison | undefined): void =>
    route.patch({ task: task && idOf(task) });
  const move = (step: number): void =>
    show(tasks[Math.min(tasks.length - 1, Math.max(0, place + step))]);
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Escape: place < 0 ? undefined : () => show(undefined),
  });
  const task = tasks[place];
  const currencies = [a.totals.currency, b.totals.currency] as const;
  return (
    <main class="fill">
      <CompareHead key={b.runId} found={found} />
      <Split
        label="Width of the panes"
        name="compare"
        share={54}
        left={
          <div class="pane">
            <TaskRows {...{ tasks, place, currencies, show }} />
          </div>
        }
        right={
          task && (
            <CompareTask
              key={idOf(task)}
              task={task}
              currencies={currencies}
              onClose={() => show(undefined)}
            />
          )
        }
      />
    </main>
  );
}

interface TaskRowsProps {
  readonly tasks: readonly TaskComparison[];
  /** The position of the selected task. -1: none. */
  readonly place: number;
  readonly currencies: RowProps["currencies"];
  readonly show: (task: TaskComparison) => void;
}

function TaskRows({ tasks, place, currencies, show }: TaskRowsProps): JSX.Element {
  const largest = Math.max(...tasks.map((task) => Math.abs(costChange(task, currencies) ?? 0)));
  return (
    <VirtualRows
      label="Tasks of both runs"
      role="grid"
      count={tasks.length}
      rowHeight={ROW_HEIGHT}
      shown={place < 0 ? undefined : place}
      head={<Head />}
      row={(i, style) => {
        const one = tasks[i];
        return (
          one && (
            <Row
              key={i}
              task={one}
              style={style}
              currencies={currencies}
              largest={largest}
              isCurrent={i === place}
              onClick={() => show(one)}
            />
          )
        );
      }}
    />
  );
}

function Head(): JSX.Element {
  return (
    <div class="compare-row head">
      <span>Task</span>
      <span />
      <span class="num">A</span>
      <span class="num">B</span>
      <span class="num hide-s">Cost A</span>
      <span class="num hide-s">Cost B</span>
      <span class="num hide-s">Change of cost</span>
    </div>
  );
}

const LOOKS = { same: undefined, changed: "waiting", added: "done", removed: "failed" } as const;

interface RowProps {
  readonly task: TaskComparison;
  readonly style: { readonly top: string; readonly height: string };
  readonly currencies: readonly [a: string | undefined, b: string | undefined];
  /** The largest change of cost of all tasks. */
  readonly largest: number;
  readonly isCurrent: boolean;
  readonly onClick: () => void;
}

/** Returns the change of the cost of a task. Returns `undefined` if it can't be computed. */
function costChange(
  { a, b }: TaskComparison,
  currencies: RowProps["currencies"],
): number | undefined {
  if (a === undefined || b === undefined || currencies[0] !== currencies[1]) return undefined;
  return b.cost - a.cost;
}

/** A change as a bar from the middle: to the left for less, to the right for more. */
function ChangeBar({ share }: { readonly share: number }): JSX.Element {
  const width = `${Math.abs(share) * 50}%`;
  return (
    <span class="change-bar hide-s" aria-hidden="true">
      <i
        class={share < 0 ? "less" : "more"}
        style={share < 0 ? { right: "50%", width } : { left: "50%", width }}
      />
    </span>
  );
}

function Row({ task, style, currencies, largest, isCurrent, onClick }: RowProps): JSX.Element {
  const { a, b, kind } = task;
  const change = costChange(task, currencies);
  const time = (ms: number | undefined): string => (ms === undefined ? "" : formatDuration(ms));
  const cost = (amount = 0, currency?: string): string =>
    amount > 0 ? formatCost(amount, currency) : "";
  return (
    <div class="compare-row" role="row" aria-selected={isCurrent} style={style} onClick={onClick}>
      <span role="gridcell" class="clip">
        <button type="button" class="sort">
          <b class="clip">{visibleText((b ?? a)?.taskId ?? "")}</b>
        </button>
      </span>
      <span role="gridcell">
        <Chip kind={LOOKS[kind]}>{kindWord(task)}</Chip>
      </span>
      <span role="gridcell" class="num muted">
        {time(a?.durationMs)}
      </span>
      <span role="gridcell" class="num">
        {time(b?.durationMs)}
      </span>
      <span role="gridcell" class="num muted hide-s">
        {cost(a?.cost, currencies[0])}
      </span>
      <span role="gridcell" class="num hide-s">
        {cost(b?.cost, currencies[1])}
      </span>
      <span role="gridcell" class="row muted hide-s">
        {change !== undefined && <ChangeBar share={largest > 0 ? change / largest : 0} />}
        <span class="grow num">{change !== undefined && changeOf(a?.cost ?? 0, b?.cost ?? 0)}</span>
      </span>
    </div>
  );
}
