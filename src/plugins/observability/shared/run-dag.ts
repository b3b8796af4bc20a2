import type { Dag, DagEdge } from "../../../contracts/dag.js";
import type { ExecutionTrace, GraphTrace } from "../../../contracts/trace.js";
import { Graph } from "../../../contracts/graph.js";

/** The diagram of an ensemble after a run: with the time of the run, and of a graph the transitions that were made. */
export type RunDag = Dag & { readonly generatedAt: Date; readonly graphTerminationReason?: string | null; readonly graphStepsRun?: number };

function edgesAfter(edges: readonly DagEdge[], { graphName, steps }: GraphTrace): readonly DagEdge[] {
  const idOf = (state: string): string => (state === Graph.END ? state : `${graphName}/${state}`);
  const made = new Set(steps.map(({ stateName, nextState }) => JSON.stringify([idOf(stateName), idOf(nextState)])));
  return edges.map((edge) => ({ ...edge, fired: made.has(JSON.stringify([edge.fromStateId, edge.toStateId])) }));
}

/** What the run adds to the diagram. Of two edges between the same states both count as fired. */
export function dagOfRun(dag: Dag, { completedAt, graphTrace }: ExecutionTrace): RunDag {
  if (graphTrace === undefined || dag.graphEdges === undefined) return { ...dag, generatedAt: completedAt };
  return {
    ...dag,
    generatedAt: completedAt,
    graphEdges: edgesAfter(dag.graphEdges, graphTrace),
    graphTerminationReason: graphTrace.terminationReason ?? null,
    graphStepsRun: graphTrace.stepsRun,
  };
}
