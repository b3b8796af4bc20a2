import type { LoopIteration } from "../../../contracts/loop.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { Task } from "../../../contracts/task.js";
import { findOutput } from "../../../contracts/output.js";

/** The argument of `until`. */
export class FinishedIteration implements LoopIteration {
  readonly iterationNumber: number;
  readonly lastIterationOutputs: readonly TaskOutput[];
  // A field, because predicates destructure it.
  readonly getOutput: <U>(task: Task<U>) => TaskOutput<U> | undefined;
  readonly #iterations: readonly (readonly TaskOutput[])[];

  /** Describes the last of `iterations`. The list grows later. */
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

  /** The list is copied only when it is read. */
  get history(): readonly (readonly TaskOutput[])[] {
    return this.#iterations.slice(0, this.iterationNumber);
  }
}
