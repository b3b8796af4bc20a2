import type { JSX } from "preact";
import type { WorkState } from "../../../src/contracts/run-store.js";
import type { RunView } from "../../../src/plugins/dashboard/protocol/state-types.js";
import { counted } from "../lib/format.js";
import type { Rect } from "../lib/graph-layout.js";
import { placeStyle } from "../lib/place-style.js";
import type { GraphNode } from "../lib/graph-model.js";
import { Chip } from "./chip.js";
import { Meter, taskParts } from "./meter.js";

export interface GraphGroupProps {
  readonly node: GraphNode;
  readonly rect: Rect;
  readonly href: string;
  readonly tasks: RunView["tasks"];
}

/** Many tasks of one level and kind. */
export function GraphGroup({ node, rect, href, tasks }: GraphGroupProps): JSX.Element {
  const counts: Record<WorkState, number> = {
    idle: 0,
    running: 0,
    waiting: 0,
    done: 0,
    failed: 0,
    stopped: 0,
  };
  for (const id of node.tasks) counts[tasks.get(id)?.state ?? "idle"]++;
  const total = node.tasks.length;
  const look = (["failed", "waiting", "running"] as const).find((state) => counts[state] > 0);
  return (
    <a
      href={href}
      class={`node ${look ?? (counts.done === total ? "done" : "idle")}`}
      style={placeStyle(rect)}
      draggable={false}
    >
      <span class="row">
        <Chip>{node.group?.kind ?? "task"}</Chip>
        <b class="clip grow">{counted(total, "task")}</b>
      </span>
      <small class="row">
        <span class="faint grow">level {node.group?.level ?? 0}</span>
        {counts.failed > 0 && <span class="st failed">{`${counts.failed} failed`}</span>}
        <span>{`${counts.done.toLocaleString("en")} done`}</span>
      </small>
      <Meter
        label={`${counts.done} of ${total} tasks done`}
        parts={taskParts(counts)}
        total={total}
      />
    </a>
  );
}
