import { ValidationError } from "../../../contracts/errors.js";
import { messageOf } from "../../../util/errors.js";

/** Returns the error for an optional package that can't be loaded. */
export function missingPackage(name: string, cause: unknown): ValidationError {
  return new ValidationError(
    `A SQL database needs the package ${name}, which could not be loaded: ${messageOf(cause)}`,
    {
      cause,
      hint: `Run: npm install ${name}`,
    },
  );
}
