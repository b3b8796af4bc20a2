import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import type { JsonSchema, OutputSchema } from "../../../contracts/types.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";

const DIALECT = { target: "draft-2020-12" } as const;

/** Which side of a schema: what is given to it, or what it makes. */
type Side = "input" | "output";

/** Without `$schema`: clients with an older validator refuse a dialect that they don't know by name. */
function bare({ $schema: _dialect, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** Whether a tool's input is JSON Schema as data, which does not check anything by itself. */
export function isPlainSchema(input: OutputSchema<unknown> | JsonSchema): boolean {
  const inner = (input as { readonly schema?: { readonly "~standard"?: unknown } }).schema;
  return !("~standard" in input) && inner?.["~standard"] === undefined;
}

function schemaOfSide(type: OutputSchema<unknown> | JsonSchema, side: Side): JsonSchema {
  if (isPlainSchema(type)) return type as JsonSchema; // just checked
  if ("~standard" in type)
    return bare((type as StandardJSONSchemaV1)["~standard"].jsonSchema[side](DIALECT)); // a Standard Schema says so itself
  return bare((type as { readonly jsonSchema: JsonSchema }).jsonSchema); // the other member of the union
}

/** The schema of a tool's arguments. @throws ValidationError where it can't be had, or where the arguments would be no object. */
export function inputSchemaOf(
  toolName: string,
  input: OutputSchema<unknown> | JsonSchema,
): JsonSchema {
  let schema: JsonSchema;
  try {
    schema = schemaOfSide(input, "input");
  } catch (cause) {
    throw new ValidationError(
      `The input of tool '${toolName}' could not be converted to JSON Schema: ${messageOf(cause)}`,
      { cause },
    );
  }
  if (schema["type"] === undefined) return { ...schema, type: "object" };
  if (schema["type"] !== "object") {
    throw new ValidationError(
      `Tool '${toolName}' can't be offered through MCP: its input is of type ${preview(schema["type"])}`,
      {
        hint: "Arguments of MCP tools are always an object: wrap the input in one.",
      },
    );
  }
  return schema;
}

/** The schema of a task's value, where it says that the value is an object; a schema that transforms may know no such thing. */
export function outputSchemaOf(type: OutputSchema<unknown> | undefined): JsonSchema | undefined {
  if (type === undefined) return undefined;
  let schema: JsonSchema;
  try {
    schema = schemaOfSide(type, "output");
  } catch {
    return undefined; // it transforms: values go out without a schema
  }
  return schema["type"] === "object" ? schema : undefined;
}
