import type { JsonSchema, OutputSchema } from "../../../contracts/types.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";
import { jsonSchemaOfSide } from "../../../util/schema/schema-sides.js";

/** The schema of a tool's arguments. @throws ValidationError where it can't be had, or where the arguments would be no object. */
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

/** The schema of a task's value, where it declares an object; a schema that transforms may not declare it. */
export function outputSchemaOf(type: OutputSchema<unknown> | undefined): JsonSchema | undefined {
  if (type === undefined) return undefined;
  let schema: JsonSchema;
  try {
    schema = jsonSchemaOfSide(type, "output");
  } catch {
    return undefined; // it transforms: values go out without a schema
  }
  return schema["type"] === "object" ? schema : undefined;
}
