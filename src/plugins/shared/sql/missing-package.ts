import { ValidationError } from "../../../contracts/errors.js";
import { messageOf } from "../../../util/errors.js";

/** The error of an optional package that cannot be loaded. */
export function missingPackage(name: string, cause: unknown): ValidationError {
  return new ValidationError(
    `A SQL database needs the package ${name}, which could not be loaded: ${messageOf(cause)}`,
    {
      cause,
      hint: `Run: npm install ${name}`,
    },
  );
}
