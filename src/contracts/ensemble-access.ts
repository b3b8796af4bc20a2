import type { Dag } from "./dag.js";
import type { Explanation } from "./ensemble-options.js";
import type { EnsembleOutput } from "./output.js";
import type { RunOptions } from "./run.js";
import type { Inputs } from "./types.js";

/** The access of a plugin to an ensemble of its kernel. */
export interface EnsembleAccess {
  /** `EnsembleOptions.name`. */
  readonly name: string | undefined;
  /**
   * Whether the ensemble has `shareTasks`, `shareTools`, `shareRun` or `schedules`. Without them,
   * `start()` has nothing to serve.
   */
  readonly isShared: boolean;
  /** Boots the kernel unless it has booted. @throws as `boot()` of the kernel. */
  ready(): Promise<void>;
  run(inputs?: Inputs, options?: RunOptions): Promise<EnsembleOutput>;
  /**
   * Runs the ensemble with the parsed inputs of an earlier run, without another check by
   * `inputType`.
   */
  runAgain(inputs: Inputs, options?: RunOptions): Promise<EnsembleOutput>;
  explain(inputs?: Inputs): Promise<Explanation>;
  toDag(): Dag;
}
