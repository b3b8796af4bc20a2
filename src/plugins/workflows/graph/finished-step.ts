import type { GraphStep } from "../../../contracts/graph.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { Task } from "../../../contracts/task.js";
import { findOutput } from "../../../contracts/output.js";

/** What the predicates of edges are asked about. */
export class FinishedStep implements GraphStep {
  readonly stepNumber: number;
  readonly getOutput: <U>(task: Task<U>) => TaskOutput<U> | undefined; // a field, since predicates take it out
  readonly #visited: readonly string[];

  /** After the last of `outputs`; `visited` grows, up to and with the current state. */
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

  /** Copied only for those who look. */
  get stateHistory(): readonly string[] {
    return this.#visited.slice(0, this.stepNumber);
  }
}
