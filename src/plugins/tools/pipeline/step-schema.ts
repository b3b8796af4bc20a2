import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import type { AnyTool } from "../../../contracts/tool.js";
import type { JsonSchema, OutputSchema } from "../../../contracts/types.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { isValidating } from "../../../util/schema/standard-schema.js";
import { messageOf } from "../../../util/errors.js";

function convert(input: OutputSchema<unknown> | JsonSchema): JsonSchema {
  if ("~standard" in input)
    return (input as { readonly "~standard": StandardJSONSchemaV1.Props })[
      "~standard"
    ].jsonSchema.input({ target: "draft-2020-12" }); // the schema declares this itself
  return isValidating(input) && "jsonSchema" in input ? input.jsonSchema : input;
}

/**
 * Returns the JSON Schema of a step's input without `$schema`. Returns `undefined` for a step that
 * takes one text.
 * @throws ValidationError for a schema without a JSON Schema, or one that does not describe an
 * object. Neither a model nor a pipeline could call such a step.
 */
export function stepSchema(what: string, { name, input }: AnyTool): JsonSchema | undefined {
  if (input === undefined) return undefined;
  let schema: JsonSchema;
  try {
    const { $schema: _dialect, ...rest } = convert(input);
    schema = rest;
  } catch (error) {
    throw new ValidationError(
      `${what} ('${name}'): its input schema could not be converted to JSON Schema: ${messageOf(error)}`,
      { cause: error },
    );
  }
  const { type = "object" } = schema;
  if (type === "object") return schema;
  throw new ValidationError(
    `${what} ('${name}'): its input schema must describe an object, got type: ${preview(type)}`,
    {
      hint: "Wrap the value in an object, or leave the schema out for a single text.",
    },
  );
}
