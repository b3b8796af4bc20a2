import type { AnyGraph } from "../../../contracts/ensemble-options.js";
import type { GraphEdge } from "../../../contracts/graph.js";
import type { Plan } from "../../../contracts/plan.js";
import type { PlanDescription, PlanEdge } from "../../../contracts/plan-description.js";
import { Graph } from "../../../contracts/graph.js";
import { describeTasks, inSequence } from "../shared/describe-tasks.js";

/**
 * Describes each state as a separate group. States run one at a time and may repeat. Their only
 * order is therefore that of the declaration.
 */
export function describeGraph(plan: Plan): PlanDescription {
  const { graph } = plan;
  if (graph === undefined) return describeTasks(plan);
  const steps = plan.tasks.map(({ id }) => ({
    id,
    after: [],
    nodeType: "graph-state" as const,
    maxRuns: graph.maxSteps,
  }));
  return {
    steps: inSequence(steps),
    graph: { start: stateId(graph, graph.start as string), edges: graphEdges(graph) },
  };
}

const stateId = (graph: AnyGraph, state: string): string =>
  state === Graph.END ? state : `${graph.name}/${state}`;

/** State names are strings at run time, for any type parameter of the graph. */
function graphEdges(graph: AnyGraph): readonly PlanEdge[] {
  return (graph.edges as readonly GraphEdge<string>[]).map((edge) => ({
    fromStateId: stateId(graph, edge.from),
    toStateId: stateId(graph, edge.to),
    conditionDescription: edge.label ?? (edge.when === undefined ? "unconditional" : "predicate"),
    unconditional: edge.when === undefined,
  }));
}
