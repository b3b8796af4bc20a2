import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Dag } from "../../../../src/contracts/dag.js";
import type { TaskState } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import { layoutGraph, NAME_ONLY } from "../../lib/graph-layout.js";
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

/** The plan of a run that has not started, from left to right. Draws nothing for more tasks than a graph shows. */
export function PlanGraph({ dag, chosen, onTask }: PlanGraphProps): JSX.Element | null {
  const model = useMemo(() => graphModel({ dag, tasks: NO_TASKS }), [dag]);
  const layout = useMemo(() => layoutGraph(model, "right", NAME_ONLY), [model]);
  if (model.nodes.length < 2) return null;
  return (
    <div class="plan-graph" role="group" aria-label="Plan" tabIndex={0}>
      <div class="plan" style={{ width: `${layout.width}px`, height: `${layout.height}px` }}>
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
  );
}
