import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type { Dag } from "../../../../src/contracts/dag.js";
import type { TaskState } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import { useSize } from "../../hooks/use-size.js";
import { fittingLayout, layoutGraph, NAME_ONLY, scaleToFit } from "../../lib/graph-layout.js";
import { graphModel } from "../../lib/graph-model.js";
import { placeStyle } from "../../lib/place-style.js";
import { visibleText } from "../../lib/visible-text.js";
import { GraphWires } from "../graph-wires.js";

/** Nothing has been executed. */
const NO_TASKS: ReadonlyMap<string, TaskState> = new Map();

export interface PlanGraphProps {
  readonly dag: Dag;
  /** The task whose prompt is shown. */
  readonly chosen: string | undefined;
  readonly onTask: (taskId: string) => void;
}

/**
 * The maximum height of a plan, and the minimum scale. Below this scale, the plan scrolls: its
 * names must be legible.
 */
const [MAX_HEIGHT, MIN_SCALE] = [260, 0.6];

/** The plan of a run that has not started, as large as possible. Draws nothing for one task. */
export function PlanGraph({ dag, chosen, onTask }: PlanGraphProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const model = useMemo(() => graphModel({ dag, tasks: NO_TASKS }), [dag]);
  const room = { width, height: MAX_HEIGHT };
  const layout = useMemo(() => {
    const right = layoutGraph(model, "right", NAME_ONLY);
    return scaleToFit(right, room) < MIN_SCALE ? fittingLayout(model, room, NAME_ONLY) : right;
  }, [model, width]);
  const scale = Math.max(MIN_SCALE, scaleToFit(layout, room));
  const [wide, high] = [layout.width, layout.height].map((length) => `${length * scale}px`);
  return (
    <div
      class="plan-graph"
      hidden={model.nodes.length < 2}
      role="group"
      aria-label="Plan"
      tabIndex={0}
    >
      <div ref={box} />
      <div class="plan" style={{ width: wide, height: high }}>
        <div class="canvas" style={{ transform: `scale(${scale})` }}>
          {model.boxes.map(({ id, title }) => {
            const rect = layout.boxes.get(id);
            return rect === undefined ? null : (
              <div key={id} class="graph-box" style={placeStyle(rect)}>
                <b class="clip">{visibleText(title)}</b>
              </div>
            );
          })}
          <GraphWires layout={layout} model={model} tasks={NO_TASKS} />
          {model.nodes.map(({ id }) => {
            const rect = layout.nodes.get(id);
            return rect === undefined ? null : (
              <button
                key={id}
                type="button"
                class="plan-node clip"
                style={placeStyle(rect)}
                title={visibleText(id)}
                {...(id === chosen && { "aria-current": true as const })}
                onClick={() => onTask(id)}
              >
                {visibleText(id)}
              </button>
            );
          })}
        </div>
      </div>
    </div>
  );
}
