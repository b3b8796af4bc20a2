import type { SchemaDraft } from "@cfworker/json-schema";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Fields } from "../objects.js";
import type { Checked } from "./standard-schema.js";
import { messageOf } from "../errors.js";
import { isAboutPattern, PatternLimitError, SchemaPatterns } from "./schema-patterns.js";
import { pointerSteps } from "../json/pointer.js";
import { checkValueNow } from "./standard-schema.js";

type Issue = StandardSchemaV1.Issue;

/** One error of the validator. An error of a parent only reports an error below it. */
interface Complaint {
  readonly keyword: string;
  readonly keywordLocation: string;
  readonly instanceLocation: string;
  readonly error: string;
}

function draftOf({ $schema }: Fields): SchemaDraft {
  const dialect = typeof $schema === "string" ? $schema : "";
  if (/draft-04/.test(dialect)) return "4";
  if (/draft-0[67]/.test(dialect)) return "7";
  return dialect.includes("2019-09") ? "2019-09" : "2020-12";
}

function issuesOf(complaints: readonly Complaint[]): Issue[] {
  const isForbidden = complaints.some(({ keyword }) => keyword === "false");
  const deepest = complaints.filter(
    ({ keyword, keywordLocation }) =>
      !(isForbidden && keyword === "additionalProperties") &&
      !complaints.some((other) => other.keywordLocation.startsWith(`${keywordLocation}/`)),
  );
  return deepest.map((complaint) => ({
    message: messageFor(complaint),
    path: pointerSteps(decodeURI(complaint.instanceLocation)),
  }));
}

function messageFor(complaint: Complaint): string {
  if (isAboutPattern(complaint)) return "String does not match pattern.";
  return complaint.keyword === "false" ? "not allowed" : complaint.error;
}

/** A plain JSON Schema with its compiled validator. */
export interface CheckingSchema {
  readonly schema: StandardSchemaV1;
  readonly jsonSchema: Fields;
}

/**
 * Returns a schema that checks values against plain JSON Schema (draft 2020-12, or the draft named
 * in `$schema`). Loads the validator with the first schema. Matches patterns in linear time. `name`
 * identifies the schema in errors.
 * @throws Error for an invalid JSON Schema, here or when a value first reaches the invalid part.
 */
export async function checkingSchemaOf(name: string, jsonSchema: Fields): Promise<CheckingSchema> {
  const { Validator } = await import("@cfworker/json-schema");
  const unreadable = (error: unknown): Error =>
    new Error(
      `${name} can't be read as a JSON Schema: ${messageOf(error).split("\n", 1)[0] ?? ""}`,
      { cause: error },
    );
  const own = structuredClone(jsonSchema); // the validator changes its input
  let patterns: SchemaPatterns;
  let validator: InstanceType<typeof Validator>;
  try {
    patterns = await SchemaPatterns.replaceIn(own);
    validator = new Validator(own, draftOf(jsonSchema), false);
  } catch (error) {
    throw unreadable(error);
  }
  const validate = (value: unknown): StandardSchemaV1.Result<unknown> => {
    try {
      patterns.prepare(value);
      const { valid, errors } = validator.validate(value);
      return valid ? { value } : { issues: issuesOf(errors) };
    } catch (error) {
      if (error instanceof PatternLimitError) return { issues: [{ message: error.message }] };
      throw unreadable(error);
    }
  };
  return { schema: { "~standard": { version: 1, vendor: "json-schema", validate } }, jsonSchema };
}

/** Plain JSON Schemas by identity. Prepares a schema when its first value is checked. */
export class JsonSchemaValidators {
  readonly #ready = new WeakMap<Fields, CheckingSchema | Promise<CheckingSchema>>();

  /**
   * Checks a value. Returns a promise only while the schema is prepared. `kind` and `name` identify
   * the schema in errors.
   * @throws Error for an unreadable schema.
   */
  check(
    jsonSchema: Fields,
    value: unknown,
    kind: string,
    name: string,
  ): Checked | Promise<Checked> {
    const known = this.#ready.get(jsonSchema);
    if (known !== undefined && !(known instanceof Promise)) return check(known, value);
    const made = known ?? checkingSchemaOf(`${kind} '${name}'`, jsonSchema);
    if (known === undefined) this.#ready.set(jsonSchema, made);
    return made.then((schema) => {
      this.#ready.set(jsonSchema, schema);
      return check(schema, value);
    });
  }
}

function check(schema: CheckingSchema, value: unknown): Checked {
  return checkValueNow(schema, value) ?? { ok: true, value }; // the validator is synchronous
}
