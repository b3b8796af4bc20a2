import type { JsonSchema, OutputSchema } from "../../../contracts/types.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";
import { jsonSchemaOfSide } from "../../../util/schema/schema-sides.js";

/**
 * Returns the schema of the arguments of a tool.
 * @throws ValidationError if there is none, or if the arguments would not be an object.
 */
export function inputSchemaOf(
  toolName: string,
  input: OutputSchema<unknown> | JsonSchema,
): JsonSchema {
  let schema: JsonSchema;
  try {
    schema = jsonSchemaOfSide(input, "input");
  } catch (cause) {
    throw new ValidationError(
      `The input of tool '${toolName}' could not be converted to JSON Schema: ${messageOf(cause)}`,
      { cause },
    );
  }
  if (schema["type"] === undefined) return { ...schema, type: "object" };
  if (schema["type"] !== "object") {
    throw new ValidationError(
      `Tool '${toolName}' can't be offered to other programs: its input is of type ${preview(schema["type"])}`,
      {
        hint: "Arguments from other programs are always an object: wrap the input in one.",
      },
    );
  }
  return schema;
}

/**
 * Returns the schema of the value of a task if it declares an object. A transforming schema may
 * declare no output.
 */
export function outputSchemaOf(type: OutputSchema<unknown> | undefined): JsonSchema | undefined {
  if (type === undefined) return undefined;
  let schema: JsonSchema;
  try {
    schema = jsonSchemaOfSide(type, "output");
  } catch {
    return undefined; // a transforming schema: values are sent without a schema
  }
  return schema["type"] === "object" ? schema : undefined;
}
