import type { LoopIteration } from "../../../contracts/loop.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { Task } from "../../../contracts/task.js";
import { findOutput } from "../../../contracts/output.js";

/** What `until` is asked about. */
export class FinishedIteration implements LoopIteration {
  readonly iterationNumber: number;
  readonly lastIterationOutputs: readonly TaskOutput[];
  readonly getOutput: <U>(task: Task<U>) => TaskOutput<U> | undefined; // a field, since predicates take it out
  readonly #iterations: readonly (readonly TaskOutput[])[];

  /** Of the last of `iterations`, a list that grows. */
  constructor(
    iterations: readonly (readonly TaskOutput[])[],
    readonly lastBodyOutput: TaskOutput,
  ) {
    const outputs = iterations.at(-1) ?? [];
    this.iterationNumber = iterations.length;
    this.lastIterationOutputs = outputs;
    this.getOutput = (task) => findOutput(outputs, task);
    this.#iterations = iterations;
  }

  /** Copied only for those who look. */
  get history(): readonly (readonly TaskOutput[])[] {
    return this.#iterations.slice(0, this.iterationNumber);
  }
}
