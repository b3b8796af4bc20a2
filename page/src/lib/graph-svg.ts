import type { WorkState } from "../../../src/contracts/run-store.js";
import type { RunView } from "../../../src/plugins/dashboard/protocol/state-types.js";
import { layoutGraph } from "./graph-layout.js";
import { graphModel } from "./graph-model.js";
import { taskTitle, taskWorker } from "./task-words.js";
import { visibleText } from "./visible-text.js";
import { wirePath } from "./wire-path.js";

const COLORS: Readonly<Record<WorkState, string>> = {
  idle: "#5e6777",
  running: "#1769c2",
  waiting: "#9a5b00",
  done: "#1d7a3e",
  failed: "#c02626",
  stopped: "#5e6777",
};
const MARGIN = 20;
/** Characters that fit into a node. */
const WIDEST = 30;

/** Returns the plan of a run with the states of its tasks as a self-contained image. */
export function graphSvg(view: RunView): string {
  const model = graphModel(view);
  const layout = layoutGraph(model, "right");
  const [width, height] = [layout.width + 2 * MARGIN, layout.height + 2 * MARGIN];
  const boxes = model.boxes.flatMap(({ id, title }) => {
    const rect = layout.boxes.get(id);
    if (rect === undefined) return [];
    const { x, y } = rect;
    return [
      `<rect x="${x}" y="${y}" width="${rect.width}" height="${rect.height}" rx="8" fill="none" stroke="#c6ccd6" stroke-dasharray="4 3"/>`,
      text(title, { x: x + 10, y: y + 18, color: "#4d5665" }),
    ];
  });
  const wires = layout.wires.flatMap(({ edge, points }) => {
    const from = layout.nodes.get(edge.from) ?? layout.boxes.get(edge.from);
    const to = layout.nodes.get(edge.to) ?? layout.boxes.get(edge.to);
    if (from === undefined || to === undefined) return [];
    const { d, label } = wirePath(from, to, points, layout.direction);
    const dash =
      edge.kind === "context" || edge.kind === "transition" ? "" : ' stroke-dasharray="3 4"';
    return [
      `<path d="${d}" fill="none" stroke="#5e6777" stroke-width="1.5"${dash} marker-end="url(#arrow)"/>`,
      edge.label === undefined ? "" : text(edge.label, { ...label, color: "#4d5665" }),
    ];
  });
  const nodes = model.nodes.flatMap(({ id, group, tasks }) => {
    const rect = layout.nodes.get(id);
    if (rect === undefined) return [];
    const task = view.tasks.get(id);
    const color = COLORS[task?.state ?? "idle"];
    const { x, y } = rect;
    const title =
      task === undefined ? `${tasks.length} ${group?.kind ?? "tasks"}` : taskTitle(task);
    return [
      `<rect x="${x}" y="${y}" width="${rect.width}" height="${rect.height}" rx="8" fill="#fff" stroke="${color}" stroke-width="1.5"/>`,
      text(title, { x: x + 12, y: y + 24, color: "#171a21", isBold: true }),
      task === undefined
        ? ""
        : text(taskWorker(task), { x: x + 12, y: y + 43, color: "#4d5665" }) +
          text(task.state, { x: x + 12, y: y + 62, color }),
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-MARGIN} ${-MARGIN} ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="13">
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M1 1 7 4 1 7" fill="none" stroke="#5e6777"/></marker></defs>
<rect x="${-MARGIN}" y="${-MARGIN}" width="${width}" height="${height}" fill="#f6f7f9"/>
${[...boxes, ...wires, ...nodes].filter((line) => line !== "").join("\n")}
</svg>
`;
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly color: string;
  readonly isBold?: boolean;
}

function text(words: string, { x, y, color, isBold = false }: Place): string {
  const shown = visibleText(words);
  const cut = shown.length > WIDEST ? `${shown.slice(0, WIDEST - 1)}…` : shown;
  const escaped = cut.replace(/[&<>]/g, (mark) => `&#${mark.charCodeAt(0)};`);
  return `<text x="${x}" y="${y}" fill="${color}"${isBold ? ' font-weight="600"' : ""}>${escaped}</text>`;
}
