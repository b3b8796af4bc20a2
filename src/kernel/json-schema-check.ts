import type { SchemaDraft } from "@cfworker/json-schema";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonSchema, OutputSchema } from "../contracts/types.js";
import { ValidationError, messageOf } from "../contracts/errors.js";

type Issue = StandardSchemaV1.Issue;

/** One complaint of the validator; those about a parent only say that something below it is wrong. */
interface Complaint {
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
  const deepest = complaints.filter(({ keywordLocation }) => !complaints.some((other) => other.keywordLocation.startsWith(`${keywordLocation}/`)));
  return deepest.map(({ error, instanceLocation }) => ({ message: error, path: pathOf(instanceLocation) }));
}

/**
 * A schema for task outputs out of plain JSON Schema (draft 2020-12, or the one that its `$schema` names). The validator is loaded when the first one is made.
 * @throws ValidationError for what is no JSON Schema.
 */
export async function outputSchemaOf(jsonSchema: JsonSchema): Promise<OutputSchema<unknown>> {
  const { Validator } = await import("@cfworker/json-schema");
  const validator = ((): InstanceType<typeof Validator> => {
    try {
      return new Validator(jsonSchema, draftOf(jsonSchema), false);
    } catch (error) {
      throw new ValidationError(`expectedOutputSchema is no JSON Schema that can be read: ${messageOf(error)}`, { cause: error });
    }
  })();
  const validate = (value: unknown): StandardSchemaV1.Result<unknown> => {
    const { valid, errors } = validator.validate(value);
    return valid ? { value } : { issues: issuesOf(errors) };
  };
  return { schema: { "~standard": { version: 1, vendor: "json-schema", validate } }, jsonSchema };
}
