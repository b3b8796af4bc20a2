import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { Inputs, InputSchema, JsonSchema } from "../contracts/types.js";
import { ValidationError } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";
import { messageOf } from "../util/errors.js";
import { isObject } from "../util/objects.js";
import { jsonSchemaOfSide } from "../util/schema/schema-sides.js";
import { checkValue, isValidating } from "../util/schema/standard-schema.js";

/**
 * @throws ValidationError for a value that is not a schema, and for a schema without the JSON
 * Schema of an object.
 */
export function checkInputType(type: unknown): void {
  if (type === undefined) return;
  if (typeof type !== "object" || type === null || !isValidating(type))
    throw new ValidationError(`Ensemble inputType must be a schema, got: ${preview(type)}`, {
      hint: "Use a Standard Schema with JSON Schema, such as z.object({...}), or { schema, jsonSchema }.",
    });
  const { type: root } = formOfType(type as InputSchema<unknown>);
  if (root !== "object")
    throw new ValidationError(
      `Ensemble inputType must describe an object, got a schema of type ${preview(root)}`,
    );
}

/**
 * Parses the inputs by the `inputType` of the ensemble.
 * @throws ValidationError naming each invalid field.
 */
export async function checkedInputs(type: InputSchema<unknown>, inputs: Inputs): Promise<Inputs> {
  const checked = await checkValue(type, inputs);
  if (!checked.ok)
    throw new ValidationError(
      `The inputs do not fit the ensemble's inputType: ${checked.problem}`,
      { about: "inputs" },
    );
  if (isObject(checked.value)) return Object.freeze({ ...checked.value });
  throw new ValidationError(
    `The ensemble's inputType must make an object of the inputs, got: ${preview(checked.value)}`,
  );
}

/**
 * Returns the JSON Schema of the inputs that a caller passes. Fields filled by the option `inputs`
 * are not required.
 */
export function inputFormOf({
  inputType,
  inputs = {},
}: Pick<EnsembleOptions, "inputType" | "inputs">): JsonSchema | undefined {
  if (inputType === undefined) return undefined;
  const schema = formOfType(inputType);
  const required: unknown = schema["required"];
  if (!Array.isArray(required)) return schema;
  return { ...schema, required: required.filter((name) => !Object.hasOwn(inputs, String(name))) };
}

function formOfType(type: InputSchema<unknown>): JsonSchema {
  try {
    return jsonSchemaOfSide(type, "input");
  } catch (cause) {
    throw new ValidationError(
      `The Ensemble inputType could not be converted to JSON Schema: ${messageOf(cause)}`,
      { cause, hint: "Pass the JSON Schema too: { schema, jsonSchema }." },
    );
  }
}
