import type { Service, StartOptions } from "./service.js";
import { ValidationError } from "./errors.js";
import { checkQueues, type QueueOptions } from "./queue-options.js";
import { SHARED_NAME } from "./service-options.js";
import { checkOptions, preview } from "./validation.js";

/** An ensemble, as a program needs it. */
export interface ProgramEnsemble {
  /** `EnsembleOptions.name`. */
  readonly name: string | undefined;
  start(options?: number | StartOptions): Promise<Service>;
}

/** Options of `defineProgram()`. */
export interface ProgramOptions {
  /** Names the program for people: letters, digits, `-` and `_`, at most 64. */
  readonly name: string;
  /** The ensembles by their names. An ensemble without a name gets its key. */
  readonly ensembles: Readonly<Record<string, ProgramEnsemble>>;
  /** Limits and priorities by the names of ensembles; `default` is for those without an entry. */
  readonly queues?: Readonly<Record<string, QueueOptions>> | undefined;
}

/** The ensembles that `agentensemble worker`, `serve` and `submit` use together. */
export type Program = ProgramOptions;

/**
 * Joins ensembles to a program: the default export of a file for `agentensemble worker`, `serve` and `submit`.
 * @throws ValidationError for an unknown option, a name of another form, what is no ensemble, an invalid queue, and a key that differs from the name of its ensemble.
 */
export function defineProgram(options: ProgramOptions): Program {
  checkOptions("defineProgram()", options, ["name", "ensembles", "queues"]);
  const { name, ensembles, queues } = options;
  requireProgramName("name", name);
  const entries = Object.entries(ensembles ?? {});
  if (entries.length === 0)
    throw new ValidationError("defineProgram() ensembles must have at least one ensemble");
  for (const [key, ensemble] of entries) {
    requireProgramName("key of ensembles", key);
    if (typeof (ensemble as Partial<ProgramEnsemble> | undefined)?.start !== "function")
      throw new ValidationError(
        `defineProgram() ensembles.${key} must be an Ensemble, got: ${preview(ensemble)}`,
      );
    if (ensemble.name !== undefined && ensemble.name !== key)
      throw new ValidationError(
        `defineProgram() ensembles.${key} has the name ${preview(ensemble.name)}`,
        { hint: "Use the name as the key, or leave the name out." },
      );
  }
  if (queues !== undefined) checkQueues("defineProgram() queues", queues, Object.keys(ensembles));
  return Object.freeze({
    name,
    ensembles: Object.freeze({ ...ensembles }),
    ...(queues !== undefined && { queues: Object.freeze({ ...queues }) }),
  });
}

function requireProgramName(what: string, name: unknown): void {
  if (typeof name === "string" && SHARED_NAME.test(name)) return;
  throw new ValidationError(
    `defineProgram() ${what} must be 1 to 64 letters, digits, - or _, got: ${preview(name)}`,
  );
}
