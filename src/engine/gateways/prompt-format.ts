import type { ContextFormatter } from "../../contracts/context-format.js";
import type { Settings } from "../plan/settings.js";
import { ValidationError } from "../../contracts/errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { knownNames } from "../../contracts/validation.js";

/** Returns the run's formatter. `undefined`: JSON. @throws ValidationError for an unknown name. */
export async function formatterOf(settings: Settings): Promise<ContextFormatter | undefined> {
  const { contextFormat } = settings.options;
  if (contextFormat === undefined || contextFormat === "JSON") return undefined;
  const formats = settings.all(Tokens.ContextFormat);
  const found = formats.findLast((format) => format.name === contextFormat);
  if (found === undefined) {
    const names = ["JSON", ...formats.map((format) => format.name)];
    throw new ValidationError(
      `Unknown contextFormat '${contextFormat}'. ${knownNames(contextFormat, names)}`,
    );
  }
  return found.start();
}
