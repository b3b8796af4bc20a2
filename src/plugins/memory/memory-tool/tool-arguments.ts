import type { JsonSchema, OutputSchema } from "../../../contracts/types.js";
import { isObject } from "../../../util/objects.js";

/**
 * Declares arguments that are all texts. Accepts any object. A missing or non-text value counts as
 * blank, which the tool reports itself. `properties` maps each name to its description for the
 * model.
 */
export function textArguments<K extends string>(
  properties: Readonly<
    Record<K, { readonly description: string; readonly examples: readonly string[] }>
  >,
): OutputSchema<Readonly<Record<K, string>>> {
  const names = Object.keys(properties) as K[]; // the object's own keys
  const read = (
    value: unknown,
  ):
    | { readonly value: Readonly<Record<K, string>> }
    | { readonly issues: readonly { readonly message: string }[] } => {
    if (!isObject(value)) return { issues: [{ message: "expected a JSON object" }] };
    const given = new Map<string, unknown>(Object.entries(value));
    const textOf = (name: string): string => {
      const text = given.get(name);
      return typeof text === "string" ? text : "";
    };
    return {
      value: Object.fromEntries(names.map((name) => [name, textOf(name)])) as Record<K, string>,
    }; // one for each name
  };
  const jsonSchema: JsonSchema = {
    type: "object",
    properties: Object.fromEntries(
      names.map((name) => [name, { type: "string", ...properties[name] }]),
    ),
    required: names,
    additionalProperties: false,
  };
  return {
    schema: { "~standard": { version: 1, vendor: "agentensemble", validate: read } },
    jsonSchema,
  };
}
