import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { Fields } from "../objects.js";
import type { ValidatingSchema } from "./standard-schema.js";

const DIALECT = { target: "draft-2020-12" } as const;

/** A side of a schema: its input or its output. */
export type Side = "input" | "output";

/** Returns whether a schema is plain JSON Schema, without a method that checks a value. */
export function isPlainSchema(schema: ValidatingSchema | Fields): boolean {
  const inner = (schema as { readonly schema?: { readonly "~standard"?: unknown } }).schema;
  return !("~standard" in schema) && inner?.["~standard"] === undefined;
}

/**
 * Returns the JSON Schema of one side, without `$schema`: older validators refuse unknown dialects.
 * @throws the schema's error if the side has no JSON Schema.
 */
export function jsonSchemaOfSide(schema: ValidatingSchema | Fields, side: Side): Fields {
  if (isPlainSchema(schema)) return schema as Fields; // just checked
  const { $schema: _dialect, ...json } =
    "~standard" in schema
      ? (schema as StandardSchemaV1 & StandardJSONSchemaV1)["~standard"].jsonSchema[side](DIALECT)
      : (schema as { readonly jsonSchema: Fields }).jsonSchema; // the other member of the union
  return json;
}
