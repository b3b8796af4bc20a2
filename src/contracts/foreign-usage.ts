import type { ForeignUsage } from "./usage.js";
import { ValidationError } from "./errors.js";
import { preview, requireArray, requireInteger, requireText } from "./validation.js";
import { isObject } from "../util/objects.js";

/**
 * Checks usage that another process reports. Invalid token counts become unknown.
 * @throws ValidationError for an invalid list of usage.
 */
export function checkForeignUsage(what: string, entries: readonly ForeignUsage[]): void {
  requireArray(what, entries ?? null);
  for (const entry of entries) {
    if (!isObject(entry))
      throw new ValidationError(`${what} must have objects, got: ${preview(entry)}`);
    // The following lines check each field.
    const { provider, modelId, source, currency, calls, cost } = entry as ForeignUsage;
    requireText(provider, `${what} provider must not be blank`);
    requireText(modelId, `${what} modelId must not be blank`);
    for (const [name, text] of Object.entries({ source, currency }))
      if (text !== undefined) requireText(text, `${what} ${name} must be a text that is not blank`);
    requireInteger(`${what} calls`, calls, 0, "an integer >= 0");
    if (cost !== undefined && !(Number.isFinite(cost) && cost >= 0))
      throw new ValidationError(`${what} cost must be a number >= 0, got: ${preview(cost)}`);
  }
}
