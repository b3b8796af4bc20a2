import type { Dag } from "./dag.js";
import type { Explanation } from "./ensemble-options.js";
import type { EnsembleOutput } from "./output.js";
import type { RunOptions } from "./run.js";
import type { Inputs } from "./types.js";

/** An ensemble, as a plugin of its kernel sees it. */
export interface EnsembleAccess {
  /** `EnsembleOptions.name`. */
  readonly name: string | undefined;
  /** Starts the kernel where it has not started. @throws as the kernel's `boot()`. */
  ready(): Promise<void>;
  run(inputs?: Inputs, options?: RunOptions): Promise<EnsembleOutput>;
  /** Runs it with inputs that an earlier run was given, as that run saw them: they are not checked by `inputType` again. */
  runAgain(inputs: Inputs, options?: RunOptions): Promise<EnsembleOutput>;
  explain(inputs?: Inputs): Promise<Explanation>;
  toDag(): Dag;
}
