import type OpenAI from "openai";
import type { ChatRequest } from "../../../contracts/chat-model.js";
import type { JsonSchema } from "../../../contracts/types.js";

type WireFormat = OpenAI.ResponseFormatJSONSchema;

/**
 * The only keywords that strict mode takes; any other one makes the vendor refuse the request.
 * See "Supported schemas" in OpenAI's guide to structured outputs.
 */
const STRICT_KEYWORDS = new Set(
  (
    "$schema $defs definitions $ref title description type properties required additionalProperties items anyOf enum const " +
    "pattern format multipleOf maximum exclusiveMaximum minimum exclusiveMinimum minItems maxItems"
  ).split(" "),
);
const STRICT_FORMATS = new Set(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]);
/** The keywords of which one must say what a value is; strict mode has no "anything". */
const SHAPE_KEYWORDS = ["type", "anyOf", "$ref", "enum", "const"] as const;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isObjectSchema(schema: Readonly<Record<string, unknown>>): boolean {
  const type = schema["type"];
  return type === "object" || (Array.isArray(type) && type.includes("object")) || schema["properties"] !== undefined;
}

function isClosedObject(schema: Readonly<Record<string, unknown>>): boolean {
  const properties = schema["properties"] ?? {};
  const required = schema["required"] ?? [];
  if (!isObject(properties) || !Array.isArray(required) || schema["additionalProperties"] !== false) return false;
  return Object.keys(properties).every((name) => required.includes(name));
}

/** The schemas directly inside this one. */
function subschemas(schema: Readonly<Record<string, unknown>>): readonly unknown[] {
  const maps = [schema["properties"], schema["$defs"], schema["definitions"]].filter(isObject).flatMap((map) => Object.values(map));
  const anyOf: readonly unknown[] = Array.isArray(schema["anyOf"]) ? schema["anyOf"] : [];
  const items = schema["items"];
  return [...maps, ...anyOf, ...(items === undefined ? [] : [items])];
}

/** Whether strict mode takes this schema as it is: every object closed, every property required, only keywords it knows. */
function qualifiesForStrict(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if (!Object.keys(schema).every((keyword) => STRICT_KEYWORDS.has(keyword))) return false;
  if (!SHAPE_KEYWORDS.some((keyword) => keyword in schema)) return false;
  const format = schema["format"];
  if (format !== undefined && !(typeof format === "string" && STRICT_FORMATS.has(format))) return false;
  if (isObjectSchema(schema) && !isClosedObject(schema)) return false;
  return subschemas(schema).every(qualifiesForStrict);
}

/** The vendor allows letters, digits, dashes and underscores, 64 at most. */
function formatName(name: string): string {
  const cleaned = name.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 64);
  return cleaned === "" ? "output" : cleaned;
}

/**
 * The vendor's form of `responseFormat`: strict where the schema qualifies. The schema itself is never changed.
 * `undefined` for a root that is no object, which the vendor does not take: the prompt and the validation afterwards must do.
 */
export function toWireFormat(format: NonNullable<ChatRequest["responseFormat"]>): WireFormat | undefined {
  const schema: JsonSchema = format.schema;
  if (schema["type"] !== "object") return undefined;
  return { type: "json_schema", json_schema: { name: formatName(format.name), schema: { ...schema }, strict: qualifiesForStrict(schema) } };
}
