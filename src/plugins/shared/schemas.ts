import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonSchema, OutputSchema } from "../../contracts/types.js";
import { messageOf, toError } from "../../util/errors.js";

/** A schema in the form for models and messages. */
export interface SchemaFacts {
  /** Without `$schema`. */
  readonly jsonSchema: JsonSchema;
  /** Compact JSON. */
  readonly text: string;
  /** Its title, or else its type. It names the expected value in messages. */
  readonly title: string;
  /**
   * The `type` of its root, if it is a single one. Vendors require `object` for tool parameters and
   * response formats.
   */
  readonly rootType: string | undefined;
}

type SelfDescribing = StandardSchemaV1 & StandardJSONSchemaV1;

function schemaOfOutput(type: OutputSchema<unknown> | JsonSchema): JsonSchema {
  if ("~standard" in type)
    return (type as SelfDescribing)["~standard"].jsonSchema.input({ target: "draft-2020-12" }); // a Standard Schema has its own JSON Schema
  const pair = type as {
    readonly schema?: { readonly "~standard"?: unknown };
    readonly jsonSchema?: JsonSchema;
  };
  return pair.jsonSchema !== undefined && pair.schema?.["~standard"] !== undefined
    ? pair.jsonSchema
    : type;
}

function factsOf(type: OutputSchema<unknown> | JsonSchema): SchemaFacts {
  const { $schema: _dialect, ...jsonSchema } = schemaOfOutput(type);
  const { title, type: root } = jsonSchema;
  const rootType = typeof root === "string" ? root : undefined;
  return {
    jsonSchema,
    text: JSON.stringify(jsonSchema),
    title: typeof title === "string" && title !== "" ? title : (rootType ?? "object"),
    rootType,
  };
}

/** Converts schemas to JSON Schema, once per schema object. */
export class Schemas {
  readonly #facts = new WeakMap<object, SchemaFacts>();

  /** @throws the error of `failure` if the schema has no JSON Schema. */
  of(
    type: OutputSchema<unknown> | JsonSchema,
    failure: (problem: string, cause: unknown) => Error,
  ): SchemaFacts {
    let facts = this.#facts.get(type);
    if (facts === undefined) {
      try {
        facts = factsOf(type);
      } catch (error) {
        throw failure(messageOf(error), error);
      }
      this.#facts.set(type, facts);
    }
    return facts;
  }

  /** Returns the JSON Schema; `undefined` if there is none. */
  find(type: OutputSchema<unknown> | JsonSchema): JsonSchema | undefined {
    try {
      return this.of(type, (_problem, cause) => toError(cause)).jsonSchema;
    } catch {
      return undefined; // callers that require a schema report it
    }
  }
}
