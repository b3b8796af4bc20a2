import type { BindApi } from "../../../contracts/plugin.js";
import type { EnsembleListener } from "../../../contracts/events.js";
import type { EnsembleOutput } from "../../../contracts/output.js";
import type { AnyTask } from "../../../contracts/task.js";
import type { Inputs, JsonSchema } from "../../../contracts/types.js";

/** The options of the run of one call. */
export interface CallRun {
  readonly inputs: Inputs;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly listener?: EnsembleListener | undefined;
  readonly bindings?: ((bind: BindApi) => void) | undefined;
}

/** Runs the same tasks, once per call. @throws the errors of `Ensemble.run`. */
export type TaskRunner = (call: CallRun) => Promise<EnsembleOutput>;

/** Functions of the framework that offers use, because a plugin may not import them. */
export interface OfferPorts {
  /** Prepares runs of these tasks. @throws ValidationError for incompatible options. */
  prepare(tasks: readonly AnyTask[]): TaskRunner;
  /**
   * Prepares runs of a task that calls a tool. The arguments do not become inputs.
   * @throws as `prepare`.
   */
  prepareTool(task: AnyTask): TaskRunner;
  /** The schema of the inputs. Without one, the template variables of a task are its arguments. */
  readonly inputSchema: JsonSchema | undefined;
  /** Returns the template variables of the texts of a task that have no value yet. */
  variablesOf(task: AnyTask): readonly string[];
}
