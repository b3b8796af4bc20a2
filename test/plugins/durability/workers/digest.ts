// A map-reduce whose map tasks are executed by all workers: one model call for each task.
import type { EnsembleOptions } from "agentensemble";
import type { Ensemble } from "agentensemble";
import { Agent, MapReduceEnsemble, Task } from "agentensemble";
import { openai } from "agentensemble/providers/openai";

export const DIGEST = "digest";
/** Outputs of one reduce. */
const CHUNK = 20;

/** The number of tasks for a number of items. */
export function digestTasks(items: number): number {
  let tasks = items;
  for (let level = items; level > 1; tasks += level) level = Math.ceil(level / CHUNK);
  return tasks;
}

/** The execution of the items. */
export interface DigestSize {
  readonly items: number;
  /** Tasks of one unit, and concurrent units of one worker. */
  readonly unit: number;
  readonly units: number;
  /** Tasks that are distributed at the same time. */
  readonly window: number;
}

/** The ensemble, whose model is at the URL `vendor`. */
export function digest(
  vendor: string,
  { items, unit, units, window }: DigestSize,
  more: Pick<EnsembleOptions, "model" | "plugins"> = {},
): Ensemble {
  const agent = new Agent({ role: "Reader", goal: "Read well" });
  return new MapReduceEnsemble({
    name: DIGEST,
    model: openai("m", { baseURL: vendor, apiKey: "key" }),
    items: Array.from({ length: items }, (_, n) => n),
    chunkSize: CHUNK,
    mapTask: (n) => new Task({ description: `Read document ${n}`, agent }),
    reduceTask: (tasks) => new Task({ description: "Merge", context: tasks, agent }),
    maxConcurrency: window,
    spread: { tasks: "map", size: unit, concurrency: units },
    ...more,
  }).toEnsemble();
}
