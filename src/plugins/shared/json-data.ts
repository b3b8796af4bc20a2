import { ValidationError } from "../../contracts/errors.js";
import { messageOf } from "../../util/errors.js";

/**
 * Returns the JSON of a value.
 * @throws ValidationError for a value without one: a cycle, a BigInt.
 */
export function jsonOf(what: string, value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (cause) {
    throw new ValidationError(`${what} must be JSON data: ${messageOf(cause)}`, { cause });
  }
}
