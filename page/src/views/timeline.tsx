import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { Axis } from "../components/timeline/axis.js";
import { BarDetail } from "../components/timeline/bar-detail.js";
import { Overview } from "../components/timeline/overview.js";
import { Rows } from "../components/timeline/rows.js";
import { Toolbar, type TimelineMode } from "../components/timeline/toolbar.js";
import { useBars } from "../components/timeline/use-bars.js";
import { useOverview } from "../components/timeline/use-overview.js";
import { useRows } from "../components/timeline/use-rows.js";
import { useGestures, useSpan, type SpanControl } from "../components/timeline/use-span.js";
import { isWhole, wholeSpan } from "../lib/timeline/axis.js";
import { barAt } from "../lib/timeline/boxes.js";
import { barOfCall, callNumber } from "../lib/timeline/call-number.js";
import { lastTime } from "../lib/timeline/rows.js";
import { useBoard } from "../stores/board.js";
import type { OpenRun } from "../stores/open-run-store.js";
import type { RunViewProps } from "./run-view-props.js";

/**
 * The course of a run: a row per task or agent. Each model call, tool call, delegation and wait is
 * a bar.
 */
export function TimelineView({ run, taskId, onTask }: RunViewProps): JSX.Element {
  const nowMs = useNow(run);
  const call = useCall();
  const { tasks } = run.view;
  const whole = wholeSpan(lastTime(tasks.values(), nowMs));
  const endMs = nowMs ?? whole.to;
  const control = useSpan(whole);
  const [mode, setMode] = useState<TimelineMode>("task");
  const list = useRows(run, mode, nowMs === undefined ? 0 : Math.floor(nowMs / 1_000));
  const visible = useRef<readonly string[]>([]);
  const bars = useBars(run, [...visible.current, ...(taskId === undefined ? [] : [taskId])]);
  const [bar, setBar] = useState<number>();
  const [box, lane] = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)];
  const choose = (id: string | undefined, place?: number): void => {
    setBar(place);
    onTask(id, id === undefined || place === undefined ? undefined : callNumber(bars(id), place));
  };
  const taskAt = (ids: readonly string[], atMs: number): string | undefined =>
    ids.find((id) => {
      const { startMs = Number.POSITIVE_INFINITY, endMs: last = endMs } = tasks.get(id) ?? {};
      return startMs <= atMs && atMs <= last;
    }) ?? ids[0];
  useGestures({
    box,
    lane,
    control,
    whole,
    onPick: (atMs, target) => {
      const row = list.rows[Number(target.getAttribute("data-row") ?? -1)];
      const id = taskAt(row?.taskIds ?? [], atMs);
      const place = id === undefined ? -1 : barAt(bars(id), atMs, endMs);
      if (id !== undefined) choose(id, place <= 0 ? undefined : place);
    },
  });
  const task = taskId === undefined ? undefined : tasks.get(taskId);
  const shownBar = taskId === undefined ? undefined : (bar ?? barOfCall(bars(taskId), call));
  const chosen =
    taskId === undefined || shownBar === undefined ? undefined : { taskId, bar: shownBar };
  const lanes = { bars, span: control.span, nowMs: endMs, chosen };
  return (
    <div class="timeline pane grow" ref={box}>
      <Toolbar {...{ mode, control }} onMode={setMode} isWhole={isWhole(control.span, whole)} />
      <Rows
        {...{ run, list, lanes, taskId, visible }}
        head={<Axis span={control.span} lane={lane} />}
        live={nowMs}
        onTask={choose}
        onKey={(event) => onKey(event, control)}
      />
      {task !== undefined && (
        <BarDetail {...{ task, nowMs: endMs }} bar={shownBar} bars={bars(task.id)} />
      )}
      <Overview
        {...useOverview(run, whole, endMs)}
        {...{ whole, span: control.span }}
        onSpan={control.set}
      />
    </div>
  );
}

/**
 * Returns the milliseconds since the start of a run in progress, updated each second. Returns
 * `undefined` after its end.
 */
function useNow({ view }: OpenRun): number | undefined {
  const { clock } = useBoard();
  const { startedAt, endedAt } = view.summary;
  if (endedAt !== undefined || startedAt === "") return undefined;
  return Math.max(0, clock.seconds.value - Date.parse(startedAt));
}

/** The number of the model call in the address. */
function useCall(): number | undefined {
  return Number(useBoard().route.current.value.query["call"]) || undefined;
}

function onKey(event: KeyboardEvent, control: SpanControl): void {
  const action = {
    ArrowLeft: () => control.pan(-0.1),
    ArrowRight: () => control.pan(0.1),
    "+": () => control.zoom(1 / 1.6),
    "=": () => control.zoom(1 / 1.6),
    "-": () => control.zoom(1.6),
    "0": () => control.all(),
    f: () => control.all(),
  }[event.key];
  if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
}
