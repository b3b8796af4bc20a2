import type { JsonSchema } from "../../../contracts/types.js";
import type { Fields } from "../../../util/objects.js";
import {
  allowsNull,
  alternatives,
  isObjectSchema,
  isRecursive,
  requiredNames,
  resolveReference,
} from "./json-schema.js";
import { asFields } from "../../../util/objects.js";

/** The features that a vendor's strict mode supports. */
export interface StrictDialect {
  /** The permitted keywords. The vendor rejects a request with any other keyword. */
  readonly keywords: ReadonlySet<string>;
  readonly formats: ReadonlySet<string>;
  /**
   * Whether every property must be required. Optional properties are then sent as "this, or null".
   */
  readonly requiresAll: boolean;
  readonly allowsRecursion: boolean;
  /** Maximum sizes of one schema. */
  readonly limits: {
    readonly objectDepth: number;
    readonly properties: number;
    readonly enumValues: number;
    readonly optional: number;
    readonly unions: number;
  };
}

/** A schema for strict mode. */
export interface StrictSchema {
  readonly schema: JsonSchema;
  /**
   * Whether optional properties have become "this, or null". If so, nulls must be removed from the
   * model's output.
   */
  readonly addsNulls: boolean;
  readonly optional: number;
  readonly unions: number;
}

/** Keywords that do not restrict values and can be removed. */
const ANNOTATIONS = new Set([
  "default",
  "examples",
  "$comment",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$id",
]);
/**
 * At least one of these keywords must define the type of a value. Strict modes do not support
 * values of any type.
 */
const SHAPE_KEYWORDS = ["type", "anyOf", "oneOf", "$ref", "enum", "const"] as const;
const DEEPEST = 100;

class StrictRewriter {
  readonly #dialect: StrictDialect;
  readonly #root: Fields;
  isPossible = true;
  addsNulls = false;
  optional = 0;
  unions = 0;
  #properties = 0;
  #enumValues = 0;

  constructor(dialect: StrictDialect, root: Fields) {
    this.#dialect = dialect;
    this.#root = root;
  }

  get isWithinLimits(): boolean {
    const { limits } = this.#dialect;
    return (
      this.#properties <= limits.properties &&
      this.#enumValues <= limits.enumValues &&
      this.optional <= limits.optional &&
      this.unions <= limits.unions
    );
  }

  schema(value: unknown, depth: number, objectDepth: number): Fields {
    const schema = asFields(value);
    if (schema === undefined || depth > DEEPEST || !this.#hasKnownShape(schema))
      return this.#refuse();
    const isObject = isObjectSchema(schema);
    const inner = objectDepth + (isObject ? 1 : 0);
    if (inner > this.#dialect.limits.objectDepth) return this.#refuse();
    const copied = Object.keys(schema)
      .filter((keyword) => !ANNOTATIONS.has(keyword))
      .map((keyword) => this.#keyword(schema, keyword, depth, inner));
    return { ...Object.fromEntries(copied), ...(isObject ? this.#closing(schema) : {}) };
  }

  #hasKnownShape(schema: Fields): boolean {
    const { format, $ref } = schema;
    if (!SHAPE_KEYWORDS.some((keyword) => keyword in schema)) return false;
    if (schema["anyOf"] !== undefined && schema["oneOf"] !== undefined) return false;
    // Not expressible: each alternative within an object would have to declare the properties of
    // the others.
    if (isObjectSchema(schema) && (alternatives(schema) !== undefined || $ref !== undefined))
      return false;
    if ($ref !== undefined && resolveReference(this.#root, $ref) === undefined) return false;
    return (
      format === undefined || (typeof format === "string" && this.#dialect.formats.has(format))
    );
  }

  #keyword(
    schema: Fields,
    keyword: string,
    depth: number,
    objectDepth: number,
  ): readonly [string, unknown] {
    const content = schema[keyword];
    const next = (value: unknown): Fields => this.schema(value, depth + 1, objectDepth);
    switch (keyword) {
      case "properties":
        return [keyword, this.#propertyMap(schema, content, next)];
      case "$defs":
      case "definitions":
        return [keyword, this.#map(content, (value) => this.schema(value, depth + 1, 0))];
      case "items":
        return [keyword, next(content)];
      case "anyOf":
      case "oneOf":
        this.unions++;
        return [
          "anyOf",
          Array.isArray(content) && content.length > 0 ? content.map(next) : this.#refuse(),
        ];
      case "enum":
        this.#enumValues += Array.isArray(content) ? content.length : 0;
        return [keyword, content];
      default:
        if (keyword === "type" && Array.isArray(content)) this.unions++;
        return this.#dialect.keywords.has(keyword) ? [keyword, content] : [keyword, this.#refuse()];
    }
  }

  #propertyMap(schema: Fields, content: unknown, next: (value: unknown) => Fields): Fields {
    const required = new Set(requiredNames(schema));
    return this.#map(content, (value, name) => {
      this.#properties++;
      const rewritten = next(value);
      if (required.has(name)) return rewritten;
      this.optional++;
      if (!this.#dialect.requiresAll || allowsNull(value, this.#root)) return rewritten;
      this.addsNulls = true;
      this.unions++;
      return { anyOf: [rewritten, { type: "null" }] };
    });
  }

  #map(content: unknown, change: (value: unknown, name: string) => Fields): Fields {
    const fields = asFields(content);
    return fields === undefined
      ? this.#refuse()
      : Object.fromEntries(
          Object.entries(fields).map(([name, value]) => [name, change(value, name)]),
        );
  }

  /**
   * Returns the keywords that close an object. An object without `properties`, or with other
   * properties, is a record. Strict modes do not support records.
   */
  #closing(schema: Fields): Fields {
    const properties = asFields(schema["properties"]);
    const { additionalProperties } = schema;
    const required = requiredNames(schema);
    if (
      properties === undefined ||
      (additionalProperties !== undefined && additionalProperties !== false)
    )
      return this.#refuse();
    const names = Object.keys(properties);
    if (!required.every((name) => typeof name === "string" && names.includes(name)))
      return this.#refuse();
    return {
      required: this.#dialect.requiresAll ? names : [...required],
      additionalProperties: false,
    };
  }

  #refuse(): Fields {
    this.isPossible = false;
    return {};
  }
}

/**
 * Rewrites a schema for a vendor's strict mode. Every object is closed, every property is required
 * (an optional one as "this, or null"), and `oneOf` becomes `anyOf`. The input is not changed.
 * Returns `undefined` for a schema that strict mode can't express. Such a schema has open records
 * or unsupported keywords, has a root that is not an object, or is too large. `NullRemover` removes
 * the nulls from responses.
 */
export function toStrictSchema(
  schema: JsonSchema,
  dialect: StrictDialect,
): StrictSchema | undefined {
  if (schema["type"] !== "object" || (!dialect.allowsRecursion && isRecursive(schema)))
    return undefined;
  const rewriter = new StrictRewriter(dialect, schema);
  const rewritten = rewriter.schema(schema, 0, 0);
  if (!rewriter.isPossible || !rewriter.isWithinLimits) return undefined;
  return {
    schema: rewritten,
    addsNulls: rewriter.addsNulls,
    optional: rewriter.optional,
    unions: rewriter.unions,
  };
}

/** Rewrites each schema once and caches the result. */
export class StrictSchemas {
  readonly #dialect: StrictDialect;
  readonly #known = new WeakMap<JsonSchema, StrictSchema | "impossible">();

  constructor(dialect: StrictDialect) {
    this.#dialect = dialect;
  }

  find(schema: JsonSchema): StrictSchema | undefined {
    const known = this.#known.get(schema) ?? toStrictSchema(schema, this.#dialect) ?? "impossible";
    this.#known.set(schema, known);
    return known === "impossible" ? undefined : known;
  }
}
