import type { QueueOptions } from "../contracts/queue-options.js";
import type { Service, StartOptions } from "../contracts/service.js";
import { ValidationError } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";
import { accessOf, isEnsemble, loadDefault, type LoadedEnsemble } from "./load-ensemble.js";
import { asFields } from "../util/objects.js";

/** An ensemble that can be started. */
export type StartableEnsemble = LoadedEnsemble & {
  readonly name: string | undefined;
  start(options: StartOptions): Promise<Service>;
  stop(options?: { readonly drainTimeoutMs?: number }): Promise<void>;
};

/** The exports of a file for `serve`, `worker` and `submit`. */
export interface LoadedProgram {
  readonly ensembles: readonly StartableEnsemble[];
  readonly queues: Readonly<Record<string, QueueOptions>> | undefined;
}

/**
 * Returns the ensembles that a file default-exports: one ensemble, a record of ensembles, or a
 * program. The key is the name of an ensemble without a name.
 * @throws ValidationError for a file that exports no ensemble, and for a key that differs from the
 * name of its ensemble.
 */
export async function loadProgram(given: string): Promise<LoadedProgram> {
  const { value, complaint } = await loadDefault(given);
  if (isEnsemble(value)) return { ensembles: [startable(value, given)], queues: undefined };
  const exported = asFields(value);
  const record = asFields(exported?.["ensembles"]) ?? exported ?? {};
  const entries = Object.entries(record);
  if (entries.length === 0 || !entries.every(([, one]) => isEnsemble(one))) throw complaint;
  return {
    ensembles: entries.map(([key, one]) => named(startable(one, given), key)),
    // Checked by defineProgram().
    queues: exported === record ? undefined : (exported?.["queues"] as LoadedProgram["queues"]),
  };
}

function startable(ensemble: unknown, given: string): StartableEnsemble {
  const { start, stop } = ensemble as Partial<StartableEnsemble>; // checked before its use
  if (typeof start === "function" && typeof stop === "function")
    return ensemble as StartableEnsemble; // it has the methods
  throw new ValidationError(`The ensemble of ${preview(given)} can't be started`, {
    hint: "Its version of agentensemble is older than this command: update it in the project.",
  });
}

function named(ensemble: StartableEnsemble, key: string): StartableEnsemble {
  if (ensemble.name === undefined) accessOf(ensemble).nameIfNone?.(key);
  else if (ensemble.name !== key)
    throw new ValidationError(
      `The ensemble with the key ${preview(key)} has the name ${preview(ensemble.name)}`,
      { hint: "Use the name as the key, or leave the name out." },
    );
  return ensemble;
}

/**
 * Returns the ensemble of a program with this name. Without a name, returns the only ensemble.
 * @throws ValidationError
 */
export function ensembleNamed(
  ensembles: readonly StartableEnsemble[],
  name: string | undefined,
): StartableEnsemble {
  const [only] = ensembles;
  const found =
    name === undefined
      ? ensembles.length === 1
        ? only
        : undefined
      : ensembles.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = ensembles.map((one) => one.name ?? "(without a name)").join(", ");
  throw new ValidationError(
    name === undefined
      ? "The file has several ensembles: name one of them"
      : `The file has no ensemble with the name ${preview(name)}`,
    { hint: `It has: ${names}` },
  );
}
