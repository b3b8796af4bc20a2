import type { Plugin } from "../contracts/plugin.js";
import type { Service, StartOptions } from "../contracts/service.js";
import type { Awaitable, Inputs } from "../contracts/types.js";
import { ValidationError } from "../contracts/errors.js";
import { checkQueues, type QueueOptions } from "../contracts/queue-options.js";
import { SHARED_NAME } from "../contracts/service-options.js";
import { checkOptions, preview, requireArray } from "../contracts/validation.js";
import { Ensemble } from "./ensemble.js";

/** The parts of an ensemble that a program uses. */
export interface ProgramEnsemble {
  /** The option `name` of the ensemble. */
  readonly name: string | undefined;
  start(options?: number | StartOptions): Promise<Service>;
}

/**
 * Creates the ensemble of a run from the run's inputs, in each execution of the run. Equal inputs
 * must yield equal ensembles in every process. The ensemble must not have `kernel`, `plugins` and
 * `spread`. An error ends the run.
 */
export type ProgramFunction = (
  inputs: Inputs,
) => Awaitable<ProgramEnsemble | { toEnsemble(): ProgramEnsemble }>;

/** Options of `defineProgram()`. */
export interface ProgramOptions {
  /** The display name of the program: at most 64 letters, digits, `-` and `_`. */
  readonly name: string;
  /**
   * Ensembles by name, or functions that create them. The key is the name of an ensemble without a
   * name.
   */
  readonly ensembles: Readonly<Record<string, ProgramEnsemble | ProgramFunction>>;
  /**
   * Limits and priorities by the name of the ensemble. `default` applies to ensembles without an
   * entry.
   */
  readonly queues?: Readonly<Record<string, QueueOptions>> | undefined;
  /** Plugins of the ensembles that functions create. Default: none. */
  readonly plugins?: readonly Plugin[] | undefined;
}

/** The ensembles that `agentensemble worker`, `serve` and `submit` use. */
export interface Program extends Pick<ProgramOptions, "name" | "queues"> {
  /** The ensembles by name. For a function, the ensemble that calls the function in each run. */
  readonly ensembles: Readonly<Record<string, ProgramEnsemble>>;
}

/**
 * Combines ensembles into a program: the default export of a file for `agentensemble worker`,
 * `serve` and `submit`.
 *
 * @throws ValidationError for an unknown option, an invalid name, a value that is not an ensemble,
 * and an invalid queue. Also for a key that differs from the name of its ensemble, and for plugins
 * without a function.
 */
export function defineProgram(options: ProgramOptions): Program {
  checkOptions("defineProgram()", options, ["name", "ensembles", "queues", "plugins"]);
  const { name, ensembles, queues, plugins } = options;
  requireProgramName("name", name);
  const entries = Object.entries(ensembles ?? {});
  if (entries.length === 0)
    throw new ValidationError("defineProgram() ensembles must have at least one ensemble");
  requireArray("defineProgram() plugins", plugins);
  if (plugins !== undefined && !entries.some(([, entry]) => typeof entry === "function"))
    throw new ValidationError(
      "defineProgram() plugins apply only to ensembles that functions create, but `ensembles` contains no function",
      { hint: "Give the plugins to the ensembles." },
    );
  const made = entries.map(([key, entry]) => [key, programEnsemble(key, entry, plugins)] as const);
  if (queues !== undefined) checkQueues("defineProgram() queues", queues, Object.keys(ensembles));
  return Object.freeze({
    name,
    ensembles: Object.freeze(Object.fromEntries(made)),
    ...(queues !== undefined && { queues: Object.freeze({ ...queues }) }),
  });
}

function programEnsemble(
  key: string,
  entry: ProgramEnsemble | ProgramFunction,
  plugins: readonly Plugin[] | undefined,
): ProgramEnsemble {
  requireProgramName("key of ensembles", key);
  if (typeof entry === "function")
    return Ensemble.ofInputs({ name: key, ...(plugins !== undefined && { plugins }) }, entry);
  if (typeof (entry as Partial<ProgramEnsemble> | undefined)?.start !== "function")
    throw new ValidationError(
      `defineProgram() ensembles.${key} must be an Ensemble, or a function that returns one, got: ${preview(entry)}`,
    );
  if (entry.name !== undefined && entry.name !== key)
    throw new ValidationError(
      `defineProgram() ensembles.${key} has the name ${preview(entry.name)}`,
      { hint: "Use the name as the key, or leave the name out." },
    );
  return entry;
}

function requireProgramName(what: string, name: unknown): void {
  if (typeof name === "string" && SHARED_NAME.test(name)) return;
  throw new ValidationError(
    `defineProgram() ${what} must be 1 to 64 letters, digits, - or _, got: ${preview(name)}`,
  );
}
