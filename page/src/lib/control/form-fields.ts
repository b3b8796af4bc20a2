import type { Inputs, JsonSchema } from "../../../../src/contracts/types.js";
import { fitProblem } from "../reviews/schema-check.js";

/**
 * The input of a field. `lines`: a list of texts, one per line. `json`: any other value, as JSON.
 */
export type FieldKind =
  "text" | "long" | "number" | "boolean" | "choice" | "date" | "lines" | "json";

/** One field of a form. */
export interface FormField {
  /** Names of the field and its parents, outermost first: `["limits", "sources"]`. */
  readonly path: readonly string[];
  /** The path in the form of the server. */
  readonly key: string;
  readonly title: string;
  readonly description: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  /** The options of a choice. */
  readonly options: readonly unknown[];
  readonly schema: Fields;
  /** The initial value. */
  readonly initial: FieldValue;
}

/** A text, or the state of a check box. */
export type FieldValue = string | boolean;
export type FormValues = Readonly<Record<string, FieldValue>>;

/** The inputs of a form, or their problems by field. */
export interface FormResult {
  readonly inputs: Inputs;
  readonly problems: Readonly<Record<string, string>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** Objects below the first level are written as JSON. */
const DEEPEST = 2;

/** Returns the fields of a JSON Schema of an object. `filled`: existing values. */
export function formFields(schema: JsonSchema, filled: Inputs = {}): readonly FormField[] {
  const fields = fieldsOf(schema, { root: schema, path: [], filled });
  if (fields.length > 0 || schema["additionalProperties"] === false) return fields;
  // The names of the inputs are unknown: all of them are entered as one object.
  const value = Object.keys(filled).length > 0 ? filled : undefined;
  return [
    fieldOf({ ...schema, title: "Inputs" }, { root: schema, path: [], filled: value }, false),
  ];
}

interface Place {
  readonly root: Fields;
  readonly path: readonly string[];
  readonly filled: unknown;
}

function fieldsOf(schema: Fields, place: Place): readonly FormField[] {
  const { root, path, filled } = place;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.entries(recordOf(schema["properties"])).flatMap(([name, given]) => {
    const own = resolved(recordOf(given), root);
    const inner = { root, path: [...path, name], filled: ownOf(filled, name) };
    const isGroup = own["type"] === "object" && own["properties"] !== undefined;
    if (isGroup && inner.path.length < DEEPEST) return fieldsOf(own, inner);
    return [fieldOf(own, inner, required.includes(name))];
  });
}

function fieldOf(schema: Fields, { root, path, filled }: Place, isRequired: boolean): FormField {
  const kind = kindOf(schema);
  const value = filled ?? schema["default"] ?? schema["const"];
  return {
    path,
    key: path.join("."),
    title: textOf(schema["title"]) ?? path.join(" · "),
    description: textOf(schema["description"]) ?? "",
    kind,
    isRequired: isRequired && kind !== "boolean",
    options: Array.isArray(schema["enum"]) ? schema["enum"] : [],
    schema: { ...schema, $defs: root["$defs"], definitions: root["definitions"] },
    initial: writtenValue(kind, value),
  };
}

function kindOf(schema: Fields): FieldKind {
  const { type, format, items, maxLength } = schema;
  if (Array.isArray(schema["enum"])) return "choice";
  if (type === "boolean") return "boolean";
  if (type === "number" || type === "integer") return "number";
  if (type === "array" && recordOf(items)["type"] === "string") return "lines";
  if (type !== "string") return "json";
  if (format === "date") return "date";
  return typeof maxLength === "number" && maxLength > 400 ? "long" : "text";
}

function writtenValue(kind: FieldKind, value: unknown): FieldValue {
  if (kind === "boolean") return value === true;
  if (value === undefined) return "";
  if (kind === "choice" || kind === "json") return JSON.stringify(value);
  if (kind === "lines") return Array.isArray(value) ? value.join("\n") : "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the inputs of a form. An empty field that is not required is omitted. */
export function formResult(fields: readonly FormField[], values: FormValues): FormResult {
  const inputs: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const field of fields) {
    const { key, path, isRequired } = field;
    const read = readValue(field, fieldValue(field, values));
    if (read.problem !== undefined) problems[key] = read.problem;
    else if (read.value !== undefined && path.length === 0)
      for (const [name, value] of Object.entries(recordOf(read.value)))
        setAt(inputs, [name], value);
    else if (read.value !== undefined) setAt(inputs, path, read.value);
    else if (isRequired) problems[key] = "This is required.";
  }
  return { inputs, problems };
}

/** Returns the value of a field. */
export function fieldValue({ key, initial }: FormField, values: FormValues): FieldValue {
  return Object.hasOwn(values, key) ? (values[key] ?? initial) : initial;
}

interface ReadValue {
  readonly value?: unknown;
  readonly problem?: string | undefined;
}

function readValue({ kind, schema, isRequired }: FormField, written: FieldValue): ReadValue {
  if (typeof written === "boolean") return { value: written };
  if (written.trim() === "" && (kind !== "lines" || !isRequired)) return {};
  const value = valueOf(kind, written);
  if (value === undefined)
    return { problem: kind === "number" ? "This must be a number." : "This must be JSON." };
  return { value, problem: fitProblem(schema, value) };
}

function valueOf(kind: FieldKind, written: string): unknown {
  if (kind === "number") return Number.isFinite(Number(written)) ? Number(written) : undefined;
  if (kind === "lines") return written.split("\n").filter((line) => line.trim() !== "");
  if (kind !== "choice" && kind !== "json") return written;
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
}

function setAt(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path;
  const define = (to: unknown): void => {
    // Creates an own property for any name.
    Object.defineProperty(target, name, {
      value: to,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  };
  if (rest.length === 0) {
    define(value);
    return;
  }
  const inner = Object.hasOwn(target, name) ? recordOf(target[name]) : {};
  define(inner);
  setAt(inner, rest, value);
}

/** Returns the schema to which a reference within the document refers. */
function resolved(schema: Fields, root: Fields): Fields {
  const { $ref: reference } = schema;
  if (typeof reference !== "string" || !reference.startsWith("#/")) return schema;
  let at: unknown = root;
  for (const name of reference.slice(2).split("/")) at = ownOf(at, name);
  return { ...recordOf(at), ...schema };
}

/** Returns an own field of a record: names such as `constructor` are also possible input names. */
function ownOf(value: unknown, name: string): unknown {
  const record = recordOf(value);
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function recordOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {}; // checked
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
