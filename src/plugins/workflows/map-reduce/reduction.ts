import type { MapReduceNode } from "../../../contracts/map-reduce.js";
import type { AnyTask } from "../../../contracts/task.js";

/** Parameters of an adaptive map-reduce, set by the class that composes it. */
export interface Reduction {
  /** Maximum number of tokens of all texts for one reduce. */
  readonly budget: number;
  /** Maximum number of levels before the final reduce. */
  readonly maxReduceLevels: number;
  /** Estimates the tokens of a text if the model reported none. */
  readonly tokenEstimator?: ((text: string) => number) | undefined;
  /**
   * Creates the task with these tasks in its context and an unused id.
   * @throws ValidationError if the user's function does not return a task
   */
  reduce(
    tasks: readonly AnyTask[],
    node: MapReduceNode,
  ): { readonly task: AnyTask; readonly id: string };
}
