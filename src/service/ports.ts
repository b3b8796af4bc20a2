import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { RunOptions } from "../contracts/run.js";
import type { AnyTask } from "../contracts/task.js";
import type { Token } from "../contracts/token.js";
import type { PlanEntry } from "../engine/plan/plan.js";
import type { Inputs, JsonSchema } from "../contracts/types.js";

/** Starts a run. @throws as `Ensemble.run`. */
export type Runner = (inputs: Inputs, options: RunOptions) => Promise<EnsembleOutput>;

/** The functions of an ensemble for its service. */
export interface ServicePorts {
  readonly options: EnsembleOptions;
  /** Boots the kernel. @throws as the kernel's `boot()`. */
  ready(): Promise<void>;
  /** Returns the value of a token after the boot. Returns `undefined` for an unbound token. */
  find<T>(token: Token<T>): T | undefined;
  all<T>(token: Token<T, "many">): readonly T[];
  /** Runs the tasks of the ensemble. */
  readonly run: Runner;
  /**
   * Creates an ensemble of these tasks with the same settings on the same kernel. Its runs have the
   * name `{ensemble}--{name}`: a journal distinguishes them from runs of the ensemble.
   * @throws ValidationError for tasks that don't fit together.
   */
  derive(name: string, tasks: readonly AnyTask[]): Runner;
  /** The tasks of the ensemble with their ids. */
  readonly entries: readonly PlanEntry[];
  /**
   * Returns a function that runs only these tasks of the ensemble, on the same kernel, under the
   * name `{ensemble}--{name}`. A failed task does not end other tasks. The inputs are not checked
   * again.
   */
  part(name: string, tasks: readonly PlanEntry[]): Runner;
  /** The schema of the inputs of the ensemble, if it has an `inputType`. */
  readonly inputSchema: JsonSchema | undefined;
  /** The template variables of a task's texts that the ensemble's `inputs` do not fill. */
  variablesOf(task: AnyTask): readonly string[];
}
