import type { StrictDialect } from "../shared/strict-schema.js";

/** See "JSON Schema limitations" in Anthropic's guide to structured outputs. Optional properties may stay what they are. */
export const ANTHROPIC_DIALECT: StrictDialect = Object.freeze({
  keywords: new Set(
    "$schema $defs definitions $ref title description type properties required additionalProperties items anyOf enum const format".split(
      " ",
    ),
  ),
  formats: new Set([
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "uri",
    "ipv4",
    "ipv6",
    "uuid",
  ]),
  requiresAll: false,
  allowsRecursion: false,
  limits: { objectDepth: 100, properties: 5000, enumValues: 1000, optional: 24, unions: 16 },
});

/** The most strict tools that a request may have. */
export const STRICT_TOOL_LIMIT = 20;

/** Models from before the vendor's structured outputs. */
const OLDER_MODELS = /^claude-(v?[12]\b|3-|instant|(opus|sonnet)-4(-0|-20\d{6})?$)/;

/** Whether a model of this name keeps to JSON schemas by itself. Servers other than the vendor's name other models, of which nothing is known. */
export function hasStructuredOutput(modelId: string): boolean {
  const name = /(^|[/.])(claude-.*)$/.exec(modelId)?.[2];
  return name !== undefined && !OLDER_MODELS.test(name);
}
