import type { CommandLineAccess } from "../../../contracts/command-line.js";
import type { Dag } from "../../../contracts/dag.js";
import type { Explanation } from "../../../contracts/ensemble-options.js";
import type { Plugin } from "../../../contracts/plugin.js";
import type { RunOptions } from "../../../contracts/run.js";
import type { Awaitable, Inputs, JsonSchema } from "../../../contracts/types.js";
import type { StartableEnsemble } from "../protocol/control-bodies.js";
import { COMMAND_LINE } from "../../../contracts/command-line.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireFunction,
  requireText,
} from "../../../contracts/validation.js";
import { isObject } from "../../../util/objects.js";

/** An ensemble that the dashboard can start. An `Ensemble` implements this type. */
export interface Runnable {
  run(inputs: never, options?: RunOptions): Promise<unknown>;
  explain(inputs: never): Promise<Explanation>;
  toDag(): Dag;
  /** The name of the ensemble, if it has one. */
  readonly name?: string | undefined;
  /** Called after the run of an ensemble that `create` made. */
  dispose?(): Promise<void>;
}

/** Options for offering an ensemble. */
export interface Registration {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /**
   * Creates the ensemble again, with these plugins appended to its list. Called for each replay.
   * Default: runs of the ensemble can't be replayed.
   */
  readonly create?:
    ((o: { readonly plugins: readonly Plugin[] }) => Awaitable<Runnable>) | undefined;
  /**
   * The path of a file of `recordTo` from which runs can be replayed. Requires `create`. Default:
   * none.
   */
  readonly recording?: string | undefined;
}

/** A registered ensemble. */
export interface RegisteredEnsemble {
  readonly name: string;
  readonly runnable: Runnable;
  readonly options: Registration;
  readonly access: CommandLineAccess | undefined;
}

const METHODS = ["run", "explain", "toDag"] as const;
const OPTIONS = ["title", "description", "create", "recording"];
const NAME = /^[\w-]{1,64}$/;

export const NAME_RULE = "1 to 64 letters, digits, - and _";

/** Returns whether a text is a valid name of a registration. */
export function isRegisteredName(name: unknown): boolean {
  return typeof name === "string" && NAME.test(name);
}

/** The ensembles that users may start, by name. */
export class Registrations {
  readonly #byName = new Map<string, RegisteredEnsemble>();

  get all(): readonly RegisteredEnsemble[] {
    return [...this.#byName.values()];
  }

  get(name: string): RegisteredEnsemble | undefined {
    return this.#byName.get(name);
  }

  /**
   * Adds an ensemble. `plugin` is added to an ensemble whose kernel does not have it.
   * @throws ValidationError
   */
  add(
    name: string,
    runnable: Runnable,
    { plugin, options }: { readonly plugin: Plugin; readonly options: Registration },
  ): void {
    checkRegistration(name, runnable, options);
    if (this.#byName.has(name))
      throw new ValidationError(`An ensemble '${name}' is registered on the dashboard already`);
    const access = accessIn(runnable);
    if (access?.hasPlugin?.(plugin) === false) access.use(plugin);
    this.#byName.set(name, { name, runnable, options, access });
  }
}

function checkRegistration(name: string, runnable: Runnable, options: Registration): void {
  const what = "dashboard register()";
  if (!isRegisteredName(name))
    throw new ValidationError(`${what} name must be ${NAME_RULE}, got: ${preview(name)}`);
  const given: unknown = runnable;
  const missing = METHODS.find((m) => !isObject(given) || typeof given[m] !== "function");
  if (missing !== undefined)
    throw new ValidationError(`${what} '${name}' must get an ensemble, got: ${preview(given)}`, {
      hint: `It has no ${missing}().`,
    });
  if (runnable.name !== undefined && runnable.name !== name)
    throw new ValidationError(
      `${what} name '${name}' differs from the name of the ensemble, '${runnable.name}'`,
      { hint: "Register it under its own name: runs are found by that name." },
    );
  checkOptions(what, options, OPTIONS);
  for (const field of ["title", "description", "recording"] as const)
    if (options[field] !== undefined)
      requireText(options[field], `${what} ${field} must not be blank when set`);
  requireFunction(`${what} create`, options.create);
  if (options.recording !== undefined && options.create === undefined)
    throw new ValidationError(`${what} recording has no effect without create`);
}

function accessIn(runnable: Runnable): CommandLineAccess | undefined {
  const access = (runnable as { readonly [COMMAND_LINE]?: unknown })[COMMAND_LINE];
  return typeof access === "function"
    ? (access.call(runnable) as CommandLineAccess) // the symbol belongs to this package
    : undefined;
}

/** Returns the possible sources of answers for a replay of this ensemble. */
export function answersOf({ options, access }: RegisteredEnsemble): StartableEnsemble["answers"] {
  if (options.create === undefined || access?.replay === undefined) return [];
  return options.recording === undefined ? ["trace"] : ["trace", "recording"];
}

/** Returns the data that the page uses to start an ensemble. */
export function startable(registered: RegisteredEnsemble): StartableEnsemble {
  const { name, runnable, options, access } = registered;
  const dag = runnable.toDag();
  const filled = access?.filledInputs?.() ?? {};
  return {
    name,
    ...(options.title !== undefined && { title: options.title }),
    ...(options.description !== undefined && { description: options.description }),
    workflow: dag.workflow,
    tasks: dag.tasks.length,
    inputs: access?.inputSchema?.() ?? formOfNames(access?.inputNames(), filled),
    filled,
    answers: answersOf(registered),
  };
}

/**
 * Returns the schema of the inputs. Each variable without a value of the ensemble is a required
 * text. Code may read further inputs.
 */
function formOfNames(names: readonly string[] | undefined, filled: Inputs): JsonSchema {
  if (names === undefined) return { type: "object", additionalProperties: true };
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: names.filter((name) => !Object.hasOwn(filled, name)),
    additionalProperties: false,
  };
}
