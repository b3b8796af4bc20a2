import { ValidationError } from "../../contracts/errors.js";
import { importOptional } from "../../util/import-optional.js";
import { messageOf } from "../../util/errors.js";

/**
 * Loads an optional package. `neededBy` begins the error message, for instance `otel() needs`.
 * @throws ValidationError with the install command if the package is missing; other errors
 * unchanged.
 */
export async function loadOptionalPackage<T>(name: string, neededBy: string): Promise<T> {
  try {
    return await importOptional<T>(name);
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code !== "ERR_MODULE_NOT_FOUND" || !messageOf(error).includes(name)) throw error;
    throw new ValidationError(`${neededBy} the package '${name}', which is not installed`, {
      cause: error,
      hint: `Run: npm install ${name}`,
    });
  }
}
