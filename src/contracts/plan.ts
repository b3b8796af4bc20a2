import type { Agent } from "./agent.js";
import type { EnsembleOptions } from "./ensemble-options.js";
import type { AnyTask } from "./task.js";

/** A task with its place in the run. `spec` has its templates filled. */
export interface PlannedTask {
  /** The task's name, else `task-{position}` counted from 1; `{parent}.{n}` for tasks added during the run. */
  readonly id: string;
  readonly spec: AnyTask;
  readonly contextIds: readonly string[];
  readonly agent?: Agent | undefined;
}

/** What a run is going to do: validated, immutable, made without calling any model. */
export interface Plan {
  readonly tasks: readonly PlannedTask[];
  readonly options: EnsembleOptions;
}
