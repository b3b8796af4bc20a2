import type { Agent } from "./agent.js";
import type { Purpose } from "./chat-model.js";
import type { AnyGraph, EnsembleOptions } from "./ensemble-options.js";
import type { Loop } from "./loop.js";
import type { MapReduceNode } from "./map-reduce.js";
import type { Phase, PhaseReview } from "./phase.js";
import type { AnyTask } from "./task.js";

/** A task with its position in the run. The templates of `task` are filled. */
export interface PlannedTask {
  /**
   * The task's name, else `task-{position}`, counted from 1. `{parent}.{n}` for a task added during
   * the run.
   */
  readonly id: string;
  readonly task: AnyTask;
  readonly contextIds: readonly string[];
  readonly agent?: Agent | undefined;
  /**
   * The group of a task that is not in the task list. The group is a phase, the review of a phase,
   * a loop or the graph.
   */
  readonly group?: Phase | PhaseReview | Loop | AnyGraph | undefined;
  /** The purpose of its model calls in usage records. Default: `task`. */
  readonly purpose?: Purpose | undefined;
  /**
   * Whether the output of the run omits this task's output, for instance a verdict. Default false.
   */
  readonly internal?: boolean | undefined;
  /** The task's position in a map-reduce tree. */
  readonly mapReduce?: MapReduceNode | undefined;
}

/** The plan of a run: validated, immutable, created without a model call. */
export interface Plan {
  /** All tasks, including the tasks of phases, loops and the graph. */
  readonly tasks: readonly PlannedTask[];
  readonly phases: readonly Phase[];
  readonly loops: readonly Loop[];
  readonly graph?: AnyGraph | undefined;
  /** Returns the id of a task object that the user passed. */
  idOf(task: AnyTask): string | undefined;
  readonly options: EnsembleOptions;
}
