import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { OutputSchema } from "../contracts/types.js";
import { messageOf } from "../contracts/errors.js";

/** The outcome of checking a value: the value as the schema made it, or what is wrong with it. */
export type Checked =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** The validating half of a schema, whichever way it was given. */
export function validatorOf(schema: OutputSchema<unknown>): StandardSchemaV1<unknown, unknown> {
  return "schema" in schema && "jsonSchema" in schema ? schema.schema : schema; // the two members of the union
}

/** Whether a tool's `input` is a schema that validates, and not plain JSON Schema. */
export function isValidating(input: unknown): input is OutputSchema<unknown> {
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

function toChecked(result: StandardSchemaV1.Result<unknown>): Checked {
  return result.issues === undefined
    ? { ok: true, value: result.value }
    : { ok: false, problem: result.issues.map(pathOf).join("; ") };
}

/** Checks a value against a Standard Schema. Problems are listed as `path: message`. */
export async function checkValue(schema: OutputSchema<unknown>, value: unknown): Promise<Checked> {
  return checkAtOnce(schema, value);
}

/** As {@link checkValue}; a promise only where the schema gives one. */
export function checkAtOnce(
  schema: OutputSchema<unknown>,
  value: unknown,
): Checked | Promise<Checked> {
  const failed = (error: unknown): Checked => ({ ok: false, problem: messageOf(error) });
  try {
    const result = validatorOf(schema)["~standard"].validate(value);
    return result instanceof Promise ? result.then(toChecked).catch(failed) : toChecked(result);
  } catch (error) {
    return failed(error);
  }
}

/** As {@link checkValue}, for schemas that answer at once; `undefined` for one that does not. */
export function checkValueNow(schema: OutputSchema<unknown>, value: unknown): Checked | undefined {
  const result = validatorOf(schema)["~standard"].validate(value);
  return result instanceof Promise ? undefined : toChecked(result);
}

/** Parses JSON text and checks it against a schema. */
export async function parseText(schema: OutputSchema<unknown>, text: string): Promise<Checked> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problem: messageOf(error) };
  }
  return checkValue(schema, value);
}
