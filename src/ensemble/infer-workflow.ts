import type { EnsembleOptions } from "../contracts/ensemble-options.js";

/**
 * The name of an ensemble's workflow: by its shape, else the one it names.
 * Without either: PARALLEL if a task has another task in its context, otherwise SEQUENTIAL.
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
