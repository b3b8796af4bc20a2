import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { RunRequest } from "../engine/run/prepare-run.js";
import { ValidationError } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";

/** The parts of a run request that change if a team is created from the inputs. */
export type TeamRequest = Pick<RunRequest, "inputs" | "options" | "shape">;

/** Returns the ensemble of a map-reduce with a static tree. Returns other values unchanged. */
export function fixedTree(made: unknown): unknown {
  const { toEnsemble } = (made ?? {}) as { readonly toEnsemble?: unknown }; // checked next
  return typeof toEnsemble === "function" ? toEnsemble.call(made) : made;
}

/** @throws ValidationError for options that are not allowed in a team created from inputs. */
export function requireTeam(name: string, options: EnsembleOptions): void {
  const what = `The ensemble that the function of '${name}' makes`;
  if (options.name !== undefined && options.name !== name)
    throw new ValidationError(`${what} has the name ${preview(options.name)}`, {
      hint: "Leave the name out.",
    });
  for (const field of ["kernel", "plugins", "spread"] as const)
    if (options[field] !== undefined)
      throw new ValidationError(`${what} must not have the option '${field}'`, {
        hint:
          field === "spread"
            ? "Workers must know the tasks before the inputs: use an ensemble instead of a function."
            : "Give `plugins` to defineProgram().",
      });
}
