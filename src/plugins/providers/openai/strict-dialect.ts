import type { ChatRequest } from "../../../contracts/chat-model.js";
import type { JsonSchema } from "../../../contracts/types.js";
import type { StrictDialect } from "../shared/strict-schema.js";

/** See "Supported schemas" in OpenAI's guide to structured outputs. */
export const OPENAI_DIALECT: StrictDialect = Object.freeze({
  keywords: new Set(
    (
      "$schema $defs definitions $ref title description type properties required additionalProperties items anyOf enum const " +
      "pattern format multipleOf maximum exclusiveMaximum minimum exclusiveMinimum minItems maxItems"
    ).split(" "),
  ),
  formats: new Set([
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
  ]),
  requiresAll: true,
  allowsRecursion: true,
  limits: {
    objectDepth: 10,
    properties: 5000,
    enumValues: 1000,
    optional: Number.POSITIVE_INFINITY,
    unions: Number.POSITIVE_INFINITY,
  },
});

/** Returns a name that the vendor accepts: at most 64 letters, digits, dashes and underscores. */
export function formatName(name: string): string {
  const cleaned = name.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 64);
  return cleaned === "" ? "output" : cleaned;
}

/** A schema with its name. `sent` is `schema`, made strict if possible. */
export interface SentSchema {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly sent: Readonly<Record<string, unknown>>;
  readonly strict: boolean;
  readonly addsNulls: boolean;
}

/**
 * Returns the `responseFormat` of a request if the vendor accepts it. If the root is not an object,
 * only the prompt and the later validation enforce the schema.
 */
export function takenFormat(request: ChatRequest): ChatRequest["responseFormat"] {
  return request.responseFormat?.schema["type"] === "object" ? request.responseFormat : undefined;
}
