import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Empty } from "../components/empty.js";
import { lazyPart } from "../components/lazy.js";
import { Split } from "../components/split.js";
import { Tabs } from "../components/tabs.js";
import { Notice } from "../components/notice.js";
import { Player, StoppedClock } from "../components/run/player.js";
import { loadTools, ToolBar } from "../components/run/tool-bar.js";
import { useRunAt } from "../hooks/use-run-at.js";
import { useKeys } from "../hooks/use-keys.js";
import { errorWords } from "../lib/api-words.js";
import { hrefOf } from "../lib/route.js";
import { useBoard } from "../stores/board.js";
import type { OpenRun } from "../stores/open-run-store.js";
import { Markdown } from "../components/written.js";
import { GraphView } from "./graph.js";
import { Inspector } from "./inspector.js";
import type { RunViewProps } from "./run-view-props.js";
import { TasksView } from "./tasks.js";
import { RunHead } from "../components/run-head.js";
import { taskCount, taskParts, Meter } from "../components/meter.js";

const CostView = lazyPart(async () => (await import("./run-details.js")).CostView);
const ErrorsView = lazyPart(async () => (await import("./run-details.js")).ErrorsView);
const EventsView = lazyPart(async () => (await import("./run-details.js")).EventsView);
const TimelineView = lazyPart(async () => (await import("./run-details.js")).TimelineView);

/** Fetches the scripts of views that are not drawn yet. */
export async function loadViews(): Promise<void> {
  await Promise.all([TimelineView.load(), Markdown.load(), loadTools()]);
}

const FETCHED = {
  timeline: TimelineView,
  cost: CostView,
  errors: ErrorsView,
  events: EventsView,
} as const;
const VIEWS = {
  graph: GraphView,
  tasks: TasksView,
  ...FETCHED,
} as const satisfies Readonly<Record<string, (props: RunViewProps) => JSX.Element>>;

type ViewName = keyof typeof VIEWS;

/** Fetches the scripts of a view that is not in this file. */
function loadView(name: string | undefined): void {
  if (name === undefined || !Object.hasOwn(FETCHED, name)) return;
  const view = FETCHED[name as keyof typeof FETCHED]; // has this key, as checked above
  view.load().catch(() => undefined); // its container shows the reason
}

const TITLES: Readonly<Record<ViewName, string>> = {
  graph: "Graph",
  timeline: "Timeline",
  tasks: "Tasks",
  cost: "Cost",
  errors: "Errors",
  events: "Events",
};
const NAMES = ["graph", "timeline", "tasks", "cost", "errors", "events"] as const;

/** The open run, by the address. */
export function RunPage({ runId }: { readonly runId: string }): JSX.Element {
  const { openRun, route } = useBoard();
  useState(() => void loadView(route.current.value.query["view"])); // while the run is fetched
  const state = openRun.state.value;
  if (state.kind === "ready" && state.runId === runId) return <RunFrame run={state.run} />;
  return (
    <main class="page">
      {state.kind === "missing" && (
        <Empty icon="search" title={`There is no run ${runId}`}>
          <p>The program was started again, or the run was removed.</p>
          <a class="link" href={hrefOf(["runs"])}>
            All runs
          </a>
        </Empty>
      )}
      {state.kind === "failed" && (
        <Notice
          kind="failed"
          isUrgent
          action={
            <button type="button" class="btn" onClick={() => openRun.reload()}>
              Try again
            </button>
          }
        >
          {errorWords(state.error)}
        </Notice>
      )}
      {state.kind === "loading" && <p class="muted">Loading the run …</p>}
    </main>
  );
}

function RunFrame({ run }: { readonly run: OpenRun }): JSX.Element {
  const { route } = useBoard();
  const { query } = route.current.value;
  const name = NAMES.find((view) => view === query["view"]) ?? "graph";
  const named = query["task"];
  const taskId = taskOf(run, named);
  const atMs = momentOf(query["at"]);
  const played = useRunAt(run, atMs);
  useEffect(() => {
    if (taskId !== undefined && taskId !== named) route.patch({ task: taskId }, "replace");
  }, [taskId, named]);
  const show = (view: ViewName): void => route.patch({ view });
  const onTask: RunViewProps["onTask"] = (task, call) =>
    route.patch({ task, call: call === undefined ? undefined : String(call), entry: undefined });
  useKeys({
    ...Object.fromEntries(NAMES.map((view, i) => [String(i + 1), () => show(view)])),
    "[": () => onTask(neighbour(run, taskId, -1)),
    "]": () => onTask(neighbour(run, taskId, 1)),
    Escape: taskId === undefined ? undefined : () => onTask(undefined),
  });
  const shown = played?.run ?? run;
  return (
    <main class="fill">
      <StoppedClock atMs={shown.untilMs}>
        <RunHead run={shown}>
          <ToolBar run={run} taskId={taskId} />
        </RunHead>
      </StoppedClock>
      <Split
        label="Width of the panes"
        name="run"
        left={
          <div class="pane">
            <ViewBar run={shown} selected={name} onSelect={show} />
            {atMs !== undefined && (
              <Player
                {...{ run, atMs }}
                n={played?.n ?? -1}
                isCut={played?.isCut === true}
                onAt={(at) => route.patch({ at: at === undefined ? at : String(at) }, "replace")}
              />
            )}
            <StoppedClock atMs={shown.untilMs}>
              <ShownView name={name} run={shown} taskId={taskId} onTask={onTask} />
            </StoppedClock>
          </div>
        }
        right={taskId === undefined ? undefined : <Inspector run={shown} {...{ taskId, onTask }} />}
      />
    </main>
  );
}

function ShownView({ name, ...props }: RunViewProps & { readonly name: ViewName }): JSX.Element {
  const View = VIEWS[name];
  return (
    <div id={PANEL} class="pane grow" role="tabpanel" aria-label={TITLES[name]}>
      <View {...props} />
    </div>
  );
}

/** Returns the instant of an address, in milliseconds after the start of the run. */
function momentOf(at: string | undefined): number | undefined {
  const ms = Number(at);
  return at === undefined || !Number.isFinite(ms) || ms < 0 ? undefined : ms;
}

const PANEL = "run-view";

interface ViewBarProps {
  readonly run: OpenRun;
  readonly selected: ViewName;
  readonly onSelect: (view: ViewName) => void;
}

/** The selectable views, and the progress of the run. */
function ViewBar({ run, selected, onSelect }: ViewBarProps): JSX.Element {
  const { errors, summary } = run.view;
  const { done, all } = taskCount(summary.counts);
  return (
    <div class="row pane-bar">
      <Tabs
        label="View"
        look="box"
        panel={PANEL}
        selected={selected}
        onSelect={onSelect}
        tabs={NAMES.map((id) => ({
          id,
          title: TITLES[id],
          extra: id === "errors" && errors.length > 0 && (
            <span class="count failed">{errors.length}</span>
          ),
        }))}
      />
      <span class="grow" />
      <span class="row hide-s">
        <Meter
          label={`${done} of ${all} tasks done`}
          parts={taskParts(summary.counts)}
          total={all}
          width={140}
        />
        <span class="muted nowrap">{`${done} of ${all} done`}</span>
      </span>
    </div>
  );
}

/** Returns the id of a task by its id, otherwise by the beginning of its description. */
function taskOf({ view }: OpenRun, task: string | undefined): string | undefined {
  if (task === undefined || view.tasks.has(task)) return task;
  for (const { id, description } of view.tasks.values())
    if (description.startsWith(task)) return id;
  return undefined;
}

function neighbour(run: OpenRun, taskId: string | undefined, step: 1 | -1): string | undefined {
  const ids = [...run.view.tasks.keys()];
  const place = taskId === undefined ? -1 : ids.indexOf(taskId);
  return ids[(place + step + ids.length) % ids.length];
}
