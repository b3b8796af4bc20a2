import type { StrictDialect } from "../shared/strict-schema.js";

/**
 * See "JSON Schema limitations" in Anthropic's guide to structured outputs. Optional properties may
 * stay optional.
 */
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

/** Maximum number of strict tools per request. */
export const STRICT_TOOL_LIMIT = 20;

/** Models older than the vendor's structured outputs. */
const OLDER_MODELS = /^claude-(v?[12]\b|3-|instant|(opus|sonnet)-4(-0|-20\d{6})?$)/;

/**
 * Whether a model with this name enforces JSON schemas. Returns false for unknown names, such as
 * those of other servers' models.
 */
export function hasStructuredOutput(modelId: string): boolean {
  const name = /(^|[/.])(claude-.*)$/.exec(modelId)?.[2];
  return name !== undefined && !OLDER_MODELS.test(name);
}
