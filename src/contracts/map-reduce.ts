import type { EnsembleOptions } from "./ensemble-options.js";
import type { AnyTask } from "./task.js";

/** The place of a task in a map-reduce tree, as traces and diagrams show it. Seed 002. */
export interface MapReduceNode {
  /** `direct`: the one task that does all items at once, where they are small enough. */
  readonly nodeType: "map" | "reduce" | "final-reduce" | "direct";
  /** 0 for maps and the direct task, counted upwards to the final reduce. */
  readonly mapReduceLevel: number;
}

/** What a class that composes an ensemble out of data says about one of its tasks. */
export interface TaskNote {
  /** The task's id, instead of its name or position. */
  readonly id: string;
  /** Characters at the start of the description that are a template. The rest, and `expectedOutput`, are taken as they are: they may hold data. */
  readonly templateLength: number;
  readonly mapReduce: MapReduceNode;
}

/** The key under which the options of a composed ensemble carry its notes. */
export const TASK_NOTES = Symbol.for("agentensemble/task-notes");

/** Options with notes. A symbol, because notes are made by the framework's own classes, not written by users. */
export interface ComposedOptions extends EnsembleOptions {
  readonly [TASK_NOTES]: ReadonlyMap<AnyTask, TaskNote>;
}

/** The notes of options, where there are any. */
export function taskNotesOf(options: EnsembleOptions): ReadonlyMap<AnyTask, TaskNote> | undefined {
  return (options as Partial<ComposedOptions>)[TASK_NOTES]; // optional: most options have none
}
