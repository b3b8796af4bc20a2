import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonSchema, OutputSchema } from "../../../contracts/types.js";
import { messageOf } from "../../../contracts/errors.js";

/** A value that fits a schema, as the schema gives it back, or why it does not fit. */
export type Checked = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };

/** A schema as models and messages need it. */
export interface SchemaFacts {
  /** Without `$schema`. */
  readonly jsonSchema: JsonSchema;
  /** Compact JSON. */
  readonly text: string;
  /** Its title, else its type: what a message calls the expected value. */
  readonly title: string;
  /** The `type` of its root, where it is a single one: vendors demand `object` of tool parameters and response formats. */
  readonly rootType: string | undefined;
}

type SelfDescribing = StandardSchemaV1 & StandardJSONSchemaV1;

const isPair = (type: OutputSchema<unknown>): type is Extract<OutputSchema<unknown>, { readonly schema: unknown }> => !("~standard" in type);

/** Checks a value; problems are listed as `path: message`. A schema that throws has refused the value. */
export async function checkValue(type: OutputSchema<unknown>, value: unknown): Promise<Checked> {
  const schema: StandardSchemaV1 = isPair(type) ? type.schema : type;
  try {
    const result = await schema["~standard"].validate(value);
    return result.issues === undefined ? { ok: true, value: result.value } : { ok: false, error: result.issues.map(issueText).join("; ") };
  } catch (error) {
    return { ok: false, error: messageOf(error) };
  }
}

function issueText(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? []).map((key) => String(typeof key === "object" ? key.key : key)).join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}

function convert(type: OutputSchema<unknown> | JsonSchema): JsonSchema {
  if ("~standard" in type) return (type as SelfDescribing)["~standard"].jsonSchema.input({ target: "draft-2020-12" }); // a Standard Schema says so itself
  const pair = type as { readonly schema?: { readonly "~standard"?: unknown }; readonly jsonSchema?: JsonSchema };
  return pair.jsonSchema !== undefined && pair.schema?.["~standard"] !== undefined ? pair.jsonSchema : type;
}

function factsOf(type: OutputSchema<unknown> | JsonSchema): SchemaFacts {
  const { $schema: _dialect, ...jsonSchema } = convert(type);
  const { title, type: root } = jsonSchema;
  const rootType = typeof root === "string" ? root : undefined;
  return { jsonSchema, text: JSON.stringify(jsonSchema), title: typeof title === "string" && title !== "" ? title : (rootType ?? "object"), rootType };
}

/** Turns schemas into JSON Schema, once for each schema object. */
export class Schemas {
  readonly #facts = new WeakMap<object, SchemaFacts>();

  /** @throws what `failure` makes of it when the schema has no JSON Schema. */
  of(type: OutputSchema<unknown> | JsonSchema, failure: (problem: string, cause: unknown) => Error): SchemaFacts {
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
}
