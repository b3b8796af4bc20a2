import type { MapReduceNode } from "../../../contracts/map-reduce.js";
import type { AnyTask } from "../../../contracts/task.js";

/** What an adaptive map-reduce is told by the class that composes it. */
export interface Reduction {
  /** Tokens that the texts given to one reduce may have together. */
  readonly budget: number;
  /** Levels before the final reduce. */
  readonly maxReduceLevels: number;
  /** Tokens of a text whose model reported none. */
  readonly tokenEstimator?: ((text: string) => number) | undefined;
  /** Makes the task that has these in its context, with an id that is not taken. @throws ValidationError where the user's function makes something else. */
  reduce(
    tasks: readonly AnyTask[],
    node: MapReduceNode,
  ): { readonly task: AnyTask; readonly id: string };
}
