import type { EnsembleOptions } from "../contracts/ensemble-options.js";

/**
 * Returns the name of the workflow of an ensemble: by its shape, otherwise the given one. Without
 * either: PARALLEL if a task has another task in its context, otherwise SEQUENTIAL.
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
