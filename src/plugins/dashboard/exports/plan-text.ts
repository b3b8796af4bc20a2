import type { Dag } from "../../../contracts/dag.js";
import { Flowchart, nodeKey } from "../../shared/flowchart.js";

const LINKS: { readonly [K in Dag["edges"][number]["kind"]]: { text?: string; dotted: boolean } } =
  {
    context: { dotted: false },
    order: { dotted: true },
    repeat: { dotted: true, text: "repeats" },
    delegation: { dotted: true, text: "delegates" },
  };

/**
 * Returns the plan of a run as a Mermaid flowchart. Solid arrows pass outputs. Dotted arrows only
 * define the order.
 */
export function planText(dag: Dag | undefined): string {
  const chart = new Flowchart();
  if (dag === undefined) return chart.toString();
  const phases = new Set(dag.tasks.flatMap(({ phase }) => phase ?? []));
  for (const phase of phases)
    chart.group(nodeKey("phase", phase), `phase ${phase}`, () =>
      drawNodes(
        chart,
        dag.tasks.filter((task) => task.phase === phase),
      ),
    );
  drawNodes(
    chart,
    dag.tasks.filter(({ phase }) => phase === undefined),
  );
  for (const { fromTaskId, toTaskId, kind } of dag.edges)
    chart.edge(fromTaskId, toTaskId, LINKS[kind]);
  for (const {
    fromStateId,
    toStateId,
    conditionDescription,
    unconditional,
    fired,
  } of dag.graphEdges ?? [])
    chart.edge(fromStateId, toStateId, {
      dotted: !fired,
      ...(!unconditional && { text: conditionDescription }),
    });
  return chart.toString();
}

function drawNodes(chart: Flowchart, tasks: Dag["tasks"]): void {
  for (const task of tasks) {
    if (task.loopBody === undefined) chart.task(task);
    else {
      const { loopBody } = task;
      chart.group(task.id, `loop ${task.description}`, () => drawNodes(chart, loopBody));
    }
  }
}
