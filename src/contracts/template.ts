import { ValidationError } from "./errors.js";
import { messageOf } from "../util/errors.js";

const VARIABLE = /\{\{([A-Za-z0-9_]+)\}\}|\{([A-Za-z0-9_]+)\}/g;

const NONE: readonly string[] = Object.freeze([]);

/**
 * Returns a value as text for a template: strings unchanged, null as an empty text, objects as
 * JSON.
 * @throws ValidationError for a value that JSON can't represent.
 */
export function inputText(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null) return "";
  if (typeof value === "function") return value.name;
  // A number, a boolean, a symbol's text.
  if (typeof value !== "object") return `${value as number}`;
  if (value instanceof Date) return value.toISOString();
  try {
    return JSON.stringify(value) ?? "";
  } catch (error) {
    throw new ValidationError(`Input '${name}' can't be written as JSON: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/**
 * Fills `{name}` variables in one pass. Values are not scanned: an input can't add a variable.
 * `{{name}}` becomes `{name}`. Adds the names of variables without a value to `missing` and leaves
 * them unfilled.
 */
export function fillTemplate(
  template: string,
  inputs: Readonly<Record<string, unknown>>,
  missing: Set<string>,
): string {
  if (!template.includes("{")) return template;
  return template.replace(
    VARIABLE,
    (match: string, escaped: string | undefined, name: string | undefined) => {
      if (escaped !== undefined) return `{${escaped}}`;
      const value = name !== undefined && Object.hasOwn(inputs, name) ? inputs[name] : undefined;
      if (name === undefined) return match;
      if (value !== undefined) return inputText(name, value);
      missing.add(name);
      return match;
    },
  );
}

/** Returns the names of the variables in a text. */
export function variablesIn(text: string): readonly string[] {
  if (!text.includes("{")) return NONE;
  return [...text.matchAll(VARIABLE)].flatMap((match) => match[2] ?? []);
}
