import type { OutputUnit, Validator } from "@cfworker/json-schema";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonSchema } from "../../../contracts/types.js";
import { knownNames } from "../../../contracts/validation.js";
import { pointerSteps } from "../../../util/json/pointer.js";
import { isObject } from "../../../util/objects.js";
import { toChecked } from "../../../util/schema/standard-schema.js";

/** The JSON Schema of a value within an argument. */
export interface ValueSchema {
  readonly type: "string" | "integer" | "number" | "boolean" | "array" | "object";
  readonly description?: string | undefined;
  readonly enum?: readonly (string | number)[] | undefined;
  readonly default?: unknown;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  /** For arrays. */
  readonly items?: ValueSchema | undefined;
  /** For objects. An object without `properties` accepts what `additionalProperties` allows. */
  readonly properties?: Readonly<Record<string, ArgumentSchema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: ValueSchema | boolean | undefined;
}

/**
 * The JSON Schema of one argument. It describes the purpose to the model, with at least one
 * example.
 */
export interface ArgumentSchema extends ValueSchema {
  readonly description: string;
  readonly examples: readonly unknown[];
}

type Flat<T> = { [K in keyof T]: T[K] };

/** The type of an object with the properties `P`, of which `R` are required. */
export type ArgumentsOf<P, R> = Flat<
  { readonly [K in keyof P as K extends R ? K : never]: ValueOf<P[K]> } & {
    readonly [K in keyof P as K extends R ? never : K]?: ValueOf<P[K]> | undefined;
  }
>;

/** The type of the values that fit a schema. */
export type ValueOf<S> = S extends { readonly enum: readonly (infer E)[] }
  ? E
  : S extends { readonly type: "string" }
    ? string
    : S extends { readonly type: "integer" | "number" }
      ? number
      : S extends { readonly type: "boolean" }
        ? boolean
        : S extends { readonly type: "array"; readonly items: infer I }
          ? readonly ValueOf<I>[]
          : S extends {
                readonly type: "object";
                readonly properties: infer P;
                readonly required: readonly (infer R)[];
              }
            ? ArgumentsOf<P, R>
            : S extends { readonly type: "object" }
              ? Readonly<Record<string, unknown>>
              : unknown;

/**
 * Arguments of the declared type, or a message for the model. The message begins with
 * `Invalid arguments` and lists all problems.
 */
export type ReadArguments<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/**
 * The arguments of a built-in tool. One declaration yields the schema for the model and the
 * validation.
 */
export interface ToolArguments<T> {
  /**
   * Value for `Tool.input`. The tool gateway validates arguments before hooks and reviews receive
   * them.
   */
  readonly input: {
    readonly schema: StandardSchemaV1<unknown, T>;
    readonly jsonSchema: JsonSchema;
  };
  /**
   * Validates arguments at the beginning of `execute`, which may also be called directly. `null`
   * for an optional argument counts as absent.
   */
  read(value: unknown): Promise<ReadArguments<T>>;
}

/** Objects reject properties that are not declared, unless they set `additionalProperties`. */
function closed(schema: ValueSchema): JsonSchema {
  const { items, properties, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(items === undefined ? {} : { items: closed(items) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, closed(property)]),
          ),
        }),
    ...(schema.type === "object"
      ? { additionalProperties: additionalProperties ?? properties === undefined }
      : {}),
  };
}

/** Removes `null` from optional properties. The strict modes of vendors make models send it. */
function withoutNulls(value: unknown, schema: ValueSchema | undefined): unknown {
  if (typeof value !== "object" || value === null || schema === undefined) return value;
  if (Array.isArray(value))
    return schema.items === undefined
      ? value
      : value.map((item) => withoutNulls(item, schema.items));
  const { properties, required = [] } = schema;
  if (properties === undefined) return value;
  const kept = Object.entries(value).filter(
    ([name, content]) => content !== undefined && (content !== null || required.includes(name)),
  );
  return Object.fromEntries(
    kept.map(([name, content]) => [
      name,
      withoutNulls(content, Object.hasOwn(properties, name) ? properties[name] : undefined),
    ]),
  );
}

/** Errors of these keywords only report that a nested value is invalid. */
const PARENTS = new Set(["properties", "items", "false"]);

function quoted(text: string): string {
  return /"([^"]*)"/.exec(text)?.[1] ?? "";
}

function issueOf(complaint: OutputUnit, names: readonly string[]): StandardSchemaV1.Issue {
  const { keyword, error } = complaint;
  const path = pointerSteps(complaint.instanceLocation);
  if (keyword === "required")
    return { message: `missing required parameter '${quoted(error)}'`, path };
  if (keyword !== "additionalProperties")
    return { message: error.replace(/^Instance /, "").replace(/^type/, "the type"), path };
  const name = quoted(error).slice(0, 100);
  return {
    message: `unknown parameter '${name}'${path.length === 0 ? `. ${knownNames(name, names)}` : ""}`,
    path,
  };
}

/** Returns the issues, with all missing arguments in one line. */
function argumentIssues(
  complaints: readonly OutputUnit[],
  names: readonly string[],
): StandardSchemaV1.Issue[] {
  const own = complaints.filter(({ keyword }) => !PARENTS.has(keyword));
  const missing = own.filter(
    ({ keyword, instanceLocation }) => keyword === "required" && instanceLocation === "#",
  );
  const others = own
    .filter((complaint) => !missing.includes(complaint))
    .map((complaint) => issueOf(complaint, names));
  if (missing.length === 0) return others;
  return [
    {
      message: `missing required parameter(s): ${missing.map(({ error }) => quoted(error)).join(", ")}`,
      path: [],
    },
    ...others,
  ];
}

const NO_OBJECT = Object.freeze({ issues: [{ message: "expected a JSON object" }] });

/**
 * Declares the arguments of a built-in tool once. Both the JSON Schema for the model and the typed
 * validation follow from the declaration. Properties that are not declared are rejected. The
 * validator is loaded on first use.
 *
 * @example const args = toolArguments({
 *   properties: { path: { type: "string", description: "The file, relative to the workspace.",
 *     examples: ["src/index.ts"] } },
 *   required: ["path"],
 * });
 * tool({ name: "lines", description: "...", input: args.input, execute: async (given) => {
 *   const read = await args.read(given);
 *   return read.ok ? count(read.value.path) : ToolResult.failure(read.problem); } });
 */
export function toolArguments<
  const P extends Readonly<Record<string, ArgumentSchema>>,
  const R extends keyof P & string = never,
>(declaration: {
  readonly properties: P;
  readonly required: readonly R[];
}): ToolArguments<ArgumentsOf<P, R>> {
  const schema: ValueSchema = {
    type: "object",
    properties: declaration.properties,
    required: declaration.required,
  };
  const jsonSchema = closed(schema);
  const names = Object.keys(declaration.properties);
  let validator: Promise<Validator> | undefined;
  const load = async (): Promise<Validator> =>
    new (await import("@cfworker/json-schema")).Validator(jsonSchema, "2020-12", false);

  const validate = async (value: unknown): Promise<StandardSchemaV1.Result<ArgumentsOf<P, R>>> => {
    if (!isObject(value)) return NO_OBJECT;
    const given = withoutNulls(value, schema);
    const { valid, errors } = (await (validator ??= load())).validate(given);
    return valid
      ? { value: given as ArgumentsOf<P, R> } // the validator accepted it
      : { issues: argumentIssues(errors, names) };
  };
  return {
    input: {
      schema: { "~standard": { version: 1, vendor: "agentensemble", validate } },
      jsonSchema,
    },
    read: async (value) => {
      const checked = toChecked(await validate(value));
      return checked.ok
        ? { ok: true, value: checked.value }
        : { ok: false, problem: `Invalid arguments: ${checked.problem}` };
    },
  };
}
