import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Fields } from "../objects.js";
import { messageOf } from "../errors.js";

/** A schema that checks values: a Standard Schema, alone or with its JSON Schema. */
export type ValidatingSchema =
  StandardSchemaV1 | { readonly schema: StandardSchemaV1; readonly jsonSchema: Fields };

/** The result of a check: the value as the schema converted it, or its errors. */
export type Checked<T = unknown> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Returns the validating half of either form of schema. */
function validatorOf(schema: ValidatingSchema): StandardSchemaV1 {
  // The two members of the union.
  return "schema" in schema && "jsonSchema" in schema ? schema.schema : schema;
}

/** Returns whether `input` is a schema that checks values, not plain JSON Schema. */
export function isValidating(input: unknown): input is ValidatingSchema {
  const candidate = input as {
    readonly "~standard"?: unknown;
    readonly schema?: { readonly "~standard"?: unknown };
  };
  return (
    candidate["~standard"] !== undefined ||
    (typeof candidate.schema === "object" && candidate.schema?.["~standard"] !== undefined)
  );
}

function pathOf(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? [])
    .map((part) => String(typeof part === "object" ? part.key : part))
    .join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}

/**
 * Converts the result of a Standard Schema. Joins its errors as `path: message`, separated by
 * semicolons.
 */
export function toChecked<T>(result: StandardSchemaV1.Result<T>): Checked<T> {
  return result.issues === undefined
    ? { ok: true, value: result.value }
    : { ok: false, problem: result.issues.map(pathOf).join("; ") };
}

/** Checks a value against a Standard Schema. Lists errors as `path: message`. */
export async function checkValue(schema: ValidatingSchema, value: unknown): Promise<Checked> {
  return checkAtOnce(schema, value);
}

/** As {@link checkValue}, but returns a promise only for an asynchronous schema. */
export function checkAtOnce(schema: ValidatingSchema, value: unknown): Checked | Promise<Checked> {
  const failed = (error: unknown): Checked => ({ ok: false, problem: messageOf(error) });
  try {
    const result = validatorOf(schema)["~standard"].validate(value);
    return result instanceof Promise ? result.then(toChecked).catch(failed) : toChecked(result);
  } catch (error) {
    return failed(error);
  }
}

/**
 * As {@link checkValue}, for synchronous schemas. Returns `undefined` for an asynchronous schema.
 */
export function checkValueNow(schema: ValidatingSchema, value: unknown): Checked | undefined {
  const result = validatorOf(schema)["~standard"].validate(value);
  return result instanceof Promise ? undefined : toChecked(result);
}

/** Parses JSON text and checks it against a schema. */
export async function parseText(schema: ValidatingSchema, text: string): Promise<Checked> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problem: messageOf(error) };
  }
  return checkValue(schema, value);
}
