import type { EnsembleOptions } from "../contracts/ensemble-options.js";

/**
 * Returns the name of an ensemble's workflow: the workflow that its shape requires, else the given
 * workflow. Default: PARALLEL if a task has another task in its context, else SEQUENTIAL.
 */
export function inferWorkflow({
  graph,
  phases = [],
  workflow,
  tasks = [],
}: EnsembleOptions): string {
  if (graph !== undefined) return "GRAPH";
  if (phases.length > 0) return "PHASES";
  return workflow ?? (tasks.some((task) => task.context.length > 0) ? "PARALLEL" : "SEQUENTIAL");
}
