import type { CommandLineAccess } from "../contracts/command-line.js";
import type { Ensemble } from "../ensemble/ensemble.js";
import type { Inputs } from "../contracts/types.js";
import type { Fields } from "../util/objects.js";
import { COMMAND_LINE } from "../contracts/command-line.js";
import { AgentEnsembleError, ValidationError } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";
import { checkInputNames, namesGiven } from "./arguments.js";
import { formedInputs } from "./input-form.js";
import { importUserFile } from "./import-user-file.js";

/** The part of an ensemble that commands use. Equal in other copies of the package. */
export type LoadedEnsemble = Pick<
  Ensemble,
  "stream" | "resume" | "explain" | "toDag" | "toMermaid"
>;

const METHODS: readonly (keyof LoadedEnsemble)[] = [
  "stream",
  "resume",
  "explain",
  "toDag",
  "toMermaid",
];
const EXAMPLE =
  'End the file with: export default new Ensemble({ model: "openai:gpt-5-mini", tasks: [...] })';

function isObjectOrFunction(value: unknown): value is Fields {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/**
 * Checks the methods, because the file may import another copy of the package with another class.
 */
export function isEnsemble(value: unknown): value is LoadedEnsemble {
  return isObjectOrFunction(value) && METHODS.every((name) => typeof value[name] === "function");
}

/** Returns the default export. CommonJS compiled from ES modules has a nested default export. */
function defaultOf(exports: Fields): unknown {
  const value = exports["default"];
  return isObjectOrFunction(value) && value["__esModule"] === true && "default" in value
    ? value["default"]
    : value;
}

async function made(make: () => unknown, given: string): Promise<unknown> {
  try {
    return await make();
  } catch (cause) {
    if (AgentEnsembleError.isInstance(cause)) throw cause;
    throw new ValidationError(`The function that ${preview(given)} default-exports failed`, {
      cause,
      hint: "--verbose shows where.",
    });
  }
}

/**
 * Returns the ensemble of a map-reduce with a static tree.
 * @throws ValidationError for a dynamic tree.
 */
function unwrapped(value: unknown): unknown {
  if (isEnsemble(value) || !isObjectOrFunction(value) || typeof value["toEnsemble"] !== "function")
    return value;
  return (value as { toEnsemble(): unknown }).toEnsemble();
}

function complaint(exports: Fields, value: unknown, given: string): ValidationError {
  const named = Object.keys(exports).find(
    (name) => name !== "default" && isEnsemble(exports[name]),
  );
  const hint = named === undefined ? EXAMPLE : `Add: export default ${named};`;
  if (value === undefined)
    return new ValidationError(`${preview(given)} has no default export`, { hint });
  return new ValidationError(
    `The default export of ${preview(given)} must be an Ensemble, or a function that returns one, got: ${preview(value)}`,
    { hint },
  );
}

/**
 * Returns the default export of a file, or the result of a default-exported function. Also returns
 * the error for a value that is not an ensemble.
 */
export async function loadDefault(
  given: string,
): Promise<{ readonly value: unknown; readonly complaint: ValidationError }> {
  const exports = await importUserFile(given);
  const exported = unwrapped(defaultOf(exports));
  const value =
    !isEnsemble(exported) && typeof exported === "function"
      ? unwrapped(await made(exported as () => unknown, given))
      : exported;
  return { value, complaint: complaint(exports, value, given) };
}

/**
 * Returns the ensemble that a file default-exports, or that its default-exported function returns.
 * @throws ValidationError naming the actual value.
 */
export async function loadEnsemble(given: string): Promise<LoadedEnsemble> {
  const { value, complaint: error } = await loadDefault(given);
  if (isEnsemble(value)) return value;
  throw error;
}

/**
 * Returns the internal access to an ensemble.
 * @throws ValidationError for an ensemble without it.
 */
export function accessOf(ensemble: LoadedEnsemble): CommandLineAccess {
  const access = (ensemble as { readonly [COMMAND_LINE]?: unknown })[COMMAND_LINE];
  // Only this package uses the symbol.
  if (typeof access === "function") return access.call(ensemble) as CommandLineAccess;
  throw new ValidationError("The default export looks like an Ensemble but was not made by one", {
    hint: "Export the Ensemble itself, made by a version of agentensemble that has this command.",
  });
}

/**
 * Converts inputs by the schema of the ensemble.
 * @throws ValidationError for an unknown input, and for invalid JSON.
 */
export function formedFor(
  ensemble: LoadedEnsemble,
  inputs: Fields,
  { input }: { readonly input?: readonly string[] | undefined },
): Inputs {
  const access = accessOf(ensemble);
  const form = access.inputSchema?.();
  if (form === undefined) checkInputNames(input, access.inputNames());
  return formedInputs(form, inputs, namesGiven(input)); // the run reports names of run options
}

/**
 * Disposes of the kernel of an ensemble before the process ends, even if the file created the
 * kernel.
 */
export async function endEnsemble(ensemble: LoadedEnsemble | undefined): Promise<void> {
  if (ensemble !== undefined && COMMAND_LINE in ensemble) await accessOf(ensemble).end();
}
