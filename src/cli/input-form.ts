import type { JsonSchema } from "../contracts/types.js";
import { ValidationError } from "../contracts/errors.js";
import { knownNames, preview } from "../contracts/validation.js";
import { printableLine } from "../util/printable.js";
import { isObject, type Fields } from "../util/objects.js";

function fieldsOfForm({ properties }: JsonSchema): Fields {
  return isObject(properties) ? properties : {};
}

function allowedTypes(property: unknown): readonly string[] {
  const type = isObject(property) ? property["type"] : undefined;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.filter((name) => typeof name === "string");
}

/** Returns one line for each input: name, type, whether it is optional, and its description. */
export function inputLines(form: JsonSchema): readonly string[] {
  const required: unknown = form["required"];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(fieldsOfForm(form)).map(([name, property]) => {
    const types = allowedTypes(property).join(" or ") || "any value";
    const description = isObject(property) ? property["description"] : undefined;
    const about = typeof description === "string" ? `: ${description}` : "";
    return printableLine(`${name} (${types}${needed.includes(name) ? "" : ", optional"})${about}`);
  });
}

/**
 * Converts the text of an input by its schema: as JSON, unless a text is allowed.
 * @throws ValidationError
 */
function readAsInput(name: string, text: string, property: unknown): unknown {
  const types = allowedTypes(property);
  if (types.length === 0 || types.includes("string")) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ValidationError(
      `--input ${name} must be ${types.join(" or ")}, got: ${preview(text)}`,
      { cause, hint: "A list or an object is written as JSON." },
    );
  }
}

/**
 * Converts inputs by the schema of an ensemble. `given`: the names whose values are texts of the
 * command line.
 * @throws ValidationError for an unknown name.
 */
export function formedInputs(
  form: JsonSchema | undefined,
  inputs: Fields,
  given: ReadonlySet<string>,
): Fields {
  if (form === undefined) return inputs;
  const properties = fieldsOfForm(form);
  const others = form["additionalProperties"];
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => {
      const known = Object.hasOwn(properties, name);
      if (!known && (others === undefined || others === false))
        throw new ValidationError(
          `Unknown input '${name}'. ${knownNames(name, Object.keys(properties))}`,
          { hint: `The inputs are: ${inputLines(form).join("; ")}` },
        );
      const isText = known && given.has(name) && typeof value === "string";
      return [name, isText ? readAsInput(name, value, properties[name]) : value];
    }),
  );
}
