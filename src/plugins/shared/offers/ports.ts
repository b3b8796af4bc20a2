import type { BindApi } from "../../../contracts/plugin.js";
import type { EnsembleListener } from "../../../contracts/events.js";
import type { EnsembleOutput } from "../../../contracts/output.js";
import type { AnyTask } from "../../../contracts/task.js";
import type { Inputs, JsonSchema } from "../../../contracts/types.js";

/** What one call runs with. */
export interface CallRun {
  readonly inputs: Inputs;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly listener?: EnsembleListener | undefined;
  readonly bindings?: ((bind: BindApi) => void) | undefined;
}

/** Runs the same tasks, once for each call. @throws what `Ensemble.run` throws. */
export type TaskRunner = (call: CallRun) => Promise<EnsembleOutput>;

/** What offers need of the rest of the framework; a plugin may not import it. */
export interface OfferPorts {
  /** Prepares runs of these tasks. @throws ValidationError for options that don't fit together. */
  prepare(tasks: readonly AnyTask[]): TaskRunner;
  /** Prepares runs of a task that calls a tool, whose arguments are no inputs. @throws as `prepare`. */
  prepareTool(task: AnyTask): TaskRunner;
  /** The form of the inputs, where there is one; else the variables of a task are its arguments. */
  readonly inputSchema: JsonSchema | undefined;
  /** The template variables of a task's texts that have no value yet. */
  variablesOf(task: AnyTask): readonly string[];
}
