import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonSchema, OutputSchema } from "../../contracts/types.js";
import { isObject } from "../../util/objects.js";

/** A tool input schema whose values are checked by other code. */
export type DescribedInput = Extract<OutputSchema<unknown>, { readonly jsonSchema: JsonSchema }>;

/**
 * Returns the input of a tool that passes its arguments to another check. Models receive the
 * schema. Only its required names are checked here.
 */
export function describedInput(jsonSchema: JsonSchema): DescribedInput {
  const { required } = jsonSchema;
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const validate = (value: unknown): StandardSchemaV1.Result<unknown> => {
    if (!isObject(value)) return { issues: [{ message: "expected a JSON object" }] };
    const missing = names.filter((name) => !Object.hasOwn(value, name));
    return missing.length === 0
      ? { value }
      : { issues: [{ message: `missing required parameter(s): ${missing.join(", ")}` }] };
  };
  return { schema: { "~standard": { version: 1, vendor: "agentensemble", validate } }, jsonSchema };
}
