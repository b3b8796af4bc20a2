import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

/** A value or a promise of a value. The return type of callbacks. */
export type Awaitable<T> = T | PromiseLike<T>;

/** A JSON Schema document as plain data (draft 2020-12 unless its `$schema` names another). */
export type JsonSchema = { readonly [key: string]: unknown };

/**
 * Values for the `{name}` variables of task templates, passed to `ensemble.run(inputs)`. The names
 * of run options are refused at compile time: options are the second argument of `run`.
 */
export type Inputs = Readonly<Record<string, unknown>> & {
  readonly signal?: never;
  readonly timeoutMs?: never;
  readonly throwOnError?: never;
  readonly bindings?: never;
};

/**
 * Describes the type of the value of a task or tool. Pass a Standard Schema that also provides JSON
 * Schema (zod 4.2 or later, arktype). Alternatively, pass any Standard Schema together with a
 * separate JSON Schema.
 */
export type OutputSchema<T> =
  | (StandardSchemaV1<unknown, T> & StandardJSONSchemaV1<unknown, T>)
  | { readonly schema: StandardSchemaV1<unknown, T>; readonly jsonSchema: JsonSchema };

/**
 * Describes the inputs of an ensemble. Pass a Standard Schema of an object that also provides JSON
 * Schema. Alternatively, pass a Standard Schema of an object together with a separate JSON Schema.
 * `In` is the type that `run()` accepts. The parsed value fills the templates.
 */
export type InputSchema<In> =
  | (StandardSchemaV1<In, unknown> & StandardJSONSchemaV1<In, unknown>)
  | { readonly schema: StandardSchemaV1<In, unknown>; readonly jsonSchema: JsonSchema };

/** The outcome of an intercepted step. `answered`: a tap supplied the result. */
export type Outcome = "ok" | "answered" | "rejected" | "failed" | "aborted";
