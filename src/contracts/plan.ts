import type { Agent } from "./agent.js";
import type { Purpose } from "./chat-model.js";
import type { AnyGraph, EnsembleOptions } from "./ensemble-options.js";
import type { Loop } from "./loop.js";
import type { MapReduceNode } from "./map-reduce.js";
import type { Phase, PhaseReview } from "./phase.js";
import type { AnyTask } from "./task.js";

/** A task with its place in the run. The templates of `task` are filled. */
export interface PlannedTask {
  /** The task's name, else `task-{position}` counted from 1; `{parent}.{n}` for tasks added during the run. */
  readonly id: string;
  readonly task: AnyTask;
  readonly contextIds: readonly string[];
  readonly agent?: Agent | undefined;
  /** What the task belongs to, where it does not stand in the task list itself. */
  readonly group?: Phase | PhaseReview | Loop | AnyGraph | undefined;
  /** What its model calls are for, in usage records. Default: `task`. */
  readonly purpose?: Purpose | undefined;
  /** Whether its output is not an output of the run, for instance a verdict. Default false. */
  readonly internal?: boolean | undefined;
  /** Its place in a map-reduce tree. */
  readonly mapReduce?: MapReduceNode | undefined;
}

/** What a run is going to do: validated, immutable, made without calling any model. */
export interface Plan {
  /** All tasks, those of phases, loops and the graph included. */
  readonly tasks: readonly PlannedTask[];
  readonly phases: readonly Phase[];
  readonly loops: readonly Loop[];
  readonly graph?: AnyGraph | undefined;
  /** The id of a task as the user wrote it. */
  idOf(task: AnyTask): string | undefined;
  readonly options: EnsembleOptions;
}
