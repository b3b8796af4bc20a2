import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { AnyTask } from "../contracts/task.js";
import type { PlanEntry } from "../engine/plan/plan.js";

/** The position of a task in the plan, set by a class that creates an ensemble from data. */
export interface TaskNote extends Pick<PlanEntry, "task" | "id" | "purpose" | "mapReduce"> {
  /**
   * Number of characters at the start of the description that form a template. The rest and
   * `expectedOutput` may contain data and are not filled.
   */
  readonly templateLength: number;
}

/** The key of the notes in the options of such an ensemble. */
export const TASK_NOTES = Symbol.for("agentensemble/task-notes");

/** Options with notes. Their key is a symbol, because only classes of the framework write notes. */
export interface ComposedOptions extends EnsembleOptions {
  readonly [TASK_NOTES]: ReadonlyMap<AnyTask, TaskNote>;
}

/** Returns the notes of options. Returns `undefined` if there are none. */
export function taskNotesOf(options: EnsembleOptions): ReadonlyMap<AnyTask, TaskNote> | undefined {
  return (options as Partial<ComposedOptions>)[TASK_NOTES]; // optional: most options have none
}
