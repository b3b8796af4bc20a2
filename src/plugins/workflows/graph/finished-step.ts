import type { GraphStep } from "../../../contracts/graph.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { Task } from "../../../contracts/task.js";
import { findOutput } from "../../../contracts/output.js";

/** The argument of edge predicates. */
export class FinishedStep implements GraphStep {
  readonly stepNumber: number;
  // A field, because predicates destructure it.
  readonly getOutput: <U>(task: Task<U>) => TaskOutput<U> | undefined;
  readonly #visited: readonly string[];

  /**
   * Describes the step after the last of `outputs`. `visited` grows later. This step uses only the
   * states up to the current one.
   */
  constructor(
    readonly currentState: string,
    readonly lastOutput: TaskOutput,
    outputs: readonly TaskOutput[],
    visited: readonly string[],
  ) {
    this.stepNumber = outputs.length;
    this.getOutput = (task) => findOutput(outputs, task);
    this.#visited = visited;
  }

  /** The list is copied only when it is read. */
  get stateHistory(): readonly string[] {
    return this.#visited.slice(0, this.stepNumber);
  }
}
