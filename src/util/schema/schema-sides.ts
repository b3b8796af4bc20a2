import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { Fields } from "../objects.js";
import type { ValidatingSchema } from "./standard-schema.js";

const DIALECT = { target: "draft-2020-12" } as const;

/** Which side of a schema: what is given to it, or what it makes. */
export type Side = "input" | "output";

/** Whether a schema is JSON Schema as data, which does not check anything by itself. */
export function isPlainSchema(schema: ValidatingSchema | Fields): boolean {
  const inner = (schema as { readonly schema?: { readonly "~standard"?: unknown } }).schema;
  return !("~standard" in schema) && inner?.["~standard"] === undefined;
}

/** The JSON Schema of one side, without `$schema`: validators that are older than a dialect refuse its name. @throws what the schema throws where it has none. */
export function jsonSchemaOfSide(schema: ValidatingSchema | Fields, side: Side): Fields {
  if (isPlainSchema(schema)) return schema as Fields; // just checked
  const { $schema: _dialect, ...json } =
    "~standard" in schema
      ? (schema as StandardSchemaV1 & StandardJSONSchemaV1)["~standard"].jsonSchema[side](DIALECT) // a Standard Schema says so itself
      : (schema as { readonly jsonSchema: Fields }).jsonSchema; // the other member of the union
  return json;
}
