import type { SchemaDraft } from "@cfworker/json-schema";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonSchema, OutputSchema } from "../contracts/types.js";
import { ValidationError, messageOf } from "../contracts/errors.js";

type Issue = StandardSchemaV1.Issue;

/** One complaint of the validator; those about a parent only say that something below it is wrong. */
interface Complaint {
  readonly keyword: string;
  readonly keywordLocation: string;
  readonly instanceLocation: string;
  readonly error: string;
}

function draftOf({ $schema }: JsonSchema): SchemaDraft {
  const dialect = typeof $schema === "string" ? $schema : "";
  if (/draft-04/.test(dialect)) return "4";
  if (/draft-0[67]/.test(dialect)) return "7";
  return dialect.includes("2019-09") ? "2019-09" : "2020-12";
}

function pathOf(pointer: string): string[] {
  const parts = decodeURI(pointer).split("/").slice(1);
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function issuesOf(complaints: readonly Complaint[]): Issue[] {
  const isForbidden = complaints.some(({ keyword }) => keyword === "false");
  const deepest = complaints.filter(
    ({ keyword, keywordLocation }) =>
      !(isForbidden && keyword === "additionalProperties") &&
      !complaints.some((other) => other.keywordLocation.startsWith(`${keywordLocation}/`)),
  );
  return deepest.map(({ error, instanceLocation, keyword }) => ({
    message: keyword === "false" ? "not allowed" : error,
    path: pathOf(instanceLocation),
  }));
}

/**
 * A schema that checks values, out of plain JSON Schema (draft 2020-12, or the one that its `$schema` names). The validator is loaded when the first one is
 * made. `name` stands for the schema in errors.
 * @throws ValidationError for what is no JSON Schema, here or when the first value meets the part that is none.
 */
export async function checkingSchemaOf(
  name: string,
  jsonSchema: JsonSchema,
): Promise<OutputSchema<unknown>> {
  const { Validator } = await import("@cfworker/json-schema");
  const readable = <T>(read: () => T): T => {
    try {
      return read();
    } catch (error) {
      throw new ValidationError(
        `${name} is no JSON Schema that can be read: ${messageOf(error).split("\n", 1)[0] ?? ""}`,
        { cause: error },
      );
    }
  };
  const validator = readable(
    () => new Validator(structuredClone(jsonSchema), draftOf(jsonSchema), false),
  ); // it writes into what it is given
  const validate = (value: unknown): StandardSchemaV1.Result<unknown> => {
    const { valid, errors } = readable(() => validator.validate(value));
    return valid ? { value } : { issues: issuesOf(errors) };
  };
  return { schema: { "~standard": { version: 1, vendor: "json-schema", validate } }, jsonSchema };
}
