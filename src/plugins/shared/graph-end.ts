import type { DagTask } from "../../contracts/dag.js";
import { Graph } from "../../contracts/graph.js";

/** The target of transitions to the end of a graph. */
export const GRAPH_END: Omit<DagTask, "parallelGroup" | "onCriticalPath"> = Object.freeze({
  id: Graph.END,
  description: "End of the graph",
  expectedOutput: "",
  agentRole: "(end)",
  dependsOn: [],
  nodeType: "graph-end",
});
