import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { GraphGroup } from "../components/graph-group.js";
import { GraphNode } from "../components/graph-node.js";
import { GraphWires } from "../components/graph-wires.js";
import { Empty } from "../components/empty.js";
import { Icon, type IconName } from "../components/icon.js";
import { useKeys } from "../hooks/use-keys.js";
import { usePanZoom, type PanZoomControls } from "../hooks/use-pan-zoom.js";
import { useSize } from "../hooks/use-size.js";
import { fittingLayout } from "../lib/graph-layout.js";
import { graphModel, type GraphBox } from "../lib/graph-model.js";
import { placeStyle } from "../lib/place-style.js";
import { hrefOf } from "../lib/route.js";
import { runMs } from "../lib/run-words.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";
import type { OpenRun } from "../stores/open-run-store.js";
import type { RunViewProps } from "./run-view-props.js";

/** The plan of a run with the state of its tasks. */
export function GraphView({ run, taskId }: RunViewProps): JSX.Element {
  const window = useRef<HTMLDivElement>(null);
  const size = useSize(window);
  const { tasks, dag } = run.view;
  // The number of tasks changes with each delegation, the diagram with each new plan and
  // transition.
  const model = useMemo(() => graphModel(run.view), [run.runId, dag, tasks.size]);
  const isWide = size.width > size.height;
  const layout = useMemo(() => fittingLayout(model, size), [model.key, isWide, size.width === 0]);
  const controls = usePanZoom(size, layout);
  useKeys({
    f: controls.fit,
    "+": () => controls.zoom(1.2),
    "-": () => controls.zoom(1 / 1.2),
  });
  const { x, y, scale } = controls.place;
  return (
    <div ref={window} class="graph" {...controls.handlers} onKeyDown={panByKeys(controls)}>
      {model.nodes.length === 0 && (
        <Empty icon="idle" title="No plan yet">
          <p>Tasks are shown when they begin.</p>
        </Empty>
      )}
      <div class="canvas" style={{ transform: `translate(${x}px,${y}px) scale(${scale})` }}>
        {model.boxes.map((box) => {
          const rect = layout.boxes.get(box.id);
          if (rect === undefined) return null;
          return (
            <div key={box.id} class="graph-box" style={placeStyle(rect)}>
              <BoxTitle box={box} run={run} />
            </div>
          );
        })}
        <GraphWires layout={layout} model={model} tasks={tasks} />
        <Nodes run={run} taskId={taskId} model={model} layout={layout} />
      </div>
      <Legend isMachine={model.start !== undefined} />
      <Tools controls={controls} />
    </div>
  );
}

interface NodesProps {
  readonly run: OpenRun;
  readonly taskId: string | undefined;
  readonly model: ReturnType<typeof graphModel>;
  readonly layout: ReturnType<typeof fittingLayout>;
}

function Nodes({ run, taskId, model, layout }: NodesProps): JSX.Element {
  const { clock, reviews, route } = useBoard();
  const { tasks, summary } = run.view;
  const nowMs = runMs(summary, summary.endedAt === undefined ? clock.seconds.value : clock.now());
  const { path, query } = route.current.value;
  return (
    <>
      {model.nodes.map((node) => {
        const rect = layout.nodes.get(node.id);
        const task = tasks.get(node.id);
        if (rect === undefined) return null;
        if (node.group !== undefined) {
          const filter = { view: "tasks", level: String(node.group.level), kind: node.group.kind };
          const href = hrefOf(path, { ...query, ...filter });
          return <GraphGroup key={node.id} node={node} rect={rect} href={href} tasks={tasks} />;
        }
        if (task === undefined) return null;
        return (
          <GraphNode
            key={node.id}
            task={task}
            rect={rect}
            href={hrefOf(path, { ...query, task: node.id, call: undefined })}
            isCurrent={node.id === taskId}
            folded={node.folded}
            nowMs={nowMs}
            currency={summary.totals.currency}
            review={reviews.pending.value.find(
              (review) => review.runId === run.runId && review.taskId === node.id,
            )}
          />
        );
      })}
    </>
  );
}

/** A phase or loop, with the number of its executions. */
function BoxTitle({ box, run }: { readonly box: GraphBox; readonly run: OpenRun }): JSX.Element {
  const loop = box.kind === "loop" ? run.view.tasks.get(box.id) : undefined;
  const phase =
    box.kind === "phase" ? run.view.phases.find(({ name }) => name === box.title) : undefined;
  const max = run.view.dag?.tasks.find(({ id }) => id === box.id)?.loopMaxIterations;
  const times = loop?.attempt ?? phase?.attempt ?? 0;
  const word = loop === undefined ? "attempt" : "iteration";
  return (
    <span class="row">
      <Icon name={box.kind === "loop" ? "loop" : "team"} />
      <b class="clip">{visibleText(box.title)}</b>
      {(times > 1 || max !== undefined) && times > 0 && (
        <span class="faint nowrap">
          {word} {times}
          {max !== undefined && ` of at most ${max}`}
        </span>
      )}
    </span>
  );
}

const PAN_KEYS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [60, 0],
  ArrowRight: [-60, 0],
  ArrowUp: [0, 60],
  ArrowDown: [0, -60],
};

function panByKeys({ pan }: PanZoomControls): (event: KeyboardEvent) => void {
  return (event) => {
    const step = PAN_KEYS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    pan(...step);
  };
}

function Legend({ isMachine }: { readonly isMachine: boolean }): JSX.Element {
  return (
    <div class="graph-legend legend hide-s">
      <span>
        <i class="flowed" />
        {isMachine ? "transition made" : "output passed on"}
      </span>
      <span>
        <i class="active" />
        in use now
      </span>
      <span>
        <i class="critical" />
        critical path
      </span>
    </div>
  );
}

function Tools({ controls }: { readonly controls: PanZoomControls }): JSX.Element {
  const button = (icon: IconName, label: string, onClick: () => void): JSX.Element => (
    <button type="button" class="btn icon" aria-label={label} title={label} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
  return (
    <div class="graph-tools">
      {button("minus", "Zoom out (-)", () => controls.zoom(1 / 1.2))}
      {button("plus", "Zoom in (+)", () => controls.zoom(1.2))}
      {button("fit", "Show all (f)", controls.fit)}
    </div>
  );
}
