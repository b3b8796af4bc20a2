import type { JSX } from "preact";
import type { WorkState } from "../../../src/contracts/run-store.js";
import type { RunView } from "../../../src/plugins/dashboard/protocol/state-types.js";
import type { GraphLayout, Wire } from "../lib/graph-layout.js";
import type { GraphModel, GraphNode } from "../lib/graph-model.js";
import { visibleText } from "../lib/visible-text.js";
import { wirePath } from "../lib/wire-path.js";

export interface GraphWiresProps {
  readonly layout: GraphLayout;
  readonly model: GraphModel;
  readonly tasks: RunView["tasks"];
}

/** `flowed`: the output was passed, or the transition was made. `active`: in use now. */
type Flow = "flowed" | "active" | "";

/** The edges of the graph, behind its nodes. */
export function GraphWires({ layout, model, tasks }: GraphWiresProps): JSX.Element {
  const states = new Map(model.nodes.map((node) => [node.id, stateOf(node, tasks)]));
  const stateOfEnd = (id: string): WorkState | undefined => states.get(id) ?? tasks.get(id)?.state;
  return (
    <svg class="wires" width={layout.width} height={layout.height} aria-hidden="true">
      <defs>
        {["", "flowed", "active", "delegation"].map((flow) => (
          <marker
            key={flow}
            id={`arrow${flow}`}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="9"
            markerHeight="9"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path class={`wire ${flow}`} d="M1 1 7 4 1 7" />
          </marker>
        ))}
      </defs>
      {layout.wires.map((wire) => {
        const { from, to } = wire.edge;
        const flow = flowOf(wire, stateOfEnd(from), stateOfEnd(to));
        const isCritical = tasks.get(from)?.critical === true && tasks.get(to)?.critical === true;
        return (
          <Path
            key={`${from}\0${to}`}
            wire={wire}
            layout={layout}
            flow={flow}
            isCritical={isCritical}
          />
        );
      })}
    </svg>
  );
}

/**
 * Returns the state of many tasks: `running` while one task is running, `done` when all tasks are
 * done.
 */
function stateOf({ tasks: ids }: GraphNode, tasks: RunView["tasks"]): WorkState {
  const states = new Set(ids.map((id) => tasks.get(id)?.state ?? "idle"));
  const [only] = states;
  if (only !== undefined && states.size === 1) return only;
  return states.has("failed") ? "failed" : "running";
}

function flowOf({ edge }: Wire, from: WorkState | undefined, to: WorkState | undefined): Flow {
  if (edge.kind === "transition") return edge.isFired === true ? "flowed" : "";
  if (edge.kind === "delegation")
    return to === "running" || to === "waiting" ? "active" : to === "done" ? "flowed" : "";
  if (from !== "done" || to === undefined || to === "idle") return "";
  return to === "running" || to === "waiting" ? "active" : "flowed";
}

interface PathProps {
  readonly wire: Wire;
  readonly layout: GraphLayout;
  readonly flow: Flow;
  readonly isCritical: boolean;
}

function Path({ wire: { edge, points }, layout, flow, isCritical }: PathProps): JSX.Element | null {
  const from = layout.nodes.get(edge.from) ?? layout.boxes.get(edge.from);
  const to = layout.nodes.get(edge.to) ?? layout.boxes.get(edge.to);
  if (from === undefined || to === undefined) return null;
  const { d, label } = wirePath(from, to, points, layout.direction);
  const isBack = points === undefined;
  const look = `wire ${edge.kind} ${flow}${isBack ? " back" : ""}${isCritical ? " critical" : ""}`;
  return (
    <>
      <path
        class={look}
        d={d}
        marker-end={`url(#arrow${edge.kind === "delegation" ? edge.kind : flow})`}
      />
      {edge.label !== undefined && edge.label !== "" && (
        <text
          x={label.x}
          y={label.y}
          class={`wire-label ${flow}`}
          text-anchor={isBack ? "start" : "middle"}
        >
          {visibleText(edge.label.length > 28 ? `${edge.label.slice(0, 27)}…` : edge.label)}
          <title>{visibleText(edge.label)}</title>
        </text>
      )}
    </>
  );
}
