import type { JsonSchema } from "../../../contracts/types.js";
import type { Quote } from "./quotes.js";
import { isSourceName } from "./source-names.js";
import { isObject } from "../../../util/objects.js";

const MAX_DEPTH = 12;
const UNKNOWN_SOURCE = "unknown";

function schemas(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function numberAt(schema: JsonSchema, field: string, otherwise: number): number {
  const value = schema[field];
  return typeof value === "number" ? value : otherwise;
}

/**
 * Fills a JSON Schema with quotes. Strings become sentences. A string whose property name requests
 * a source becomes the source of a quote. Numbers become 0, booleans false, enums their first
 * value.
 */
export class SchemaFiller {
  readonly #root: JsonSchema;
  readonly #quotes: readonly Quote[];
  readonly #order: ReadonlyMap<Quote, number>;
  readonly #fallback: string;
  #next = 0;

  /**
   * `quotes`: best first. `all`: in the order of the source. `fallback`: the value of a string if
   * there is no quote.
   */
  constructor(root: JsonSchema, quotes: readonly Quote[], all: readonly Quote[], fallback: string) {
    this.#root = root;
    this.#quotes = quotes;
    this.#order = new Map(all.map((quote, index) => [quote, index]));
    this.#fallback = fallback;
  }

  /** Returns the filled document. */
  fill(): unknown {
    return this.#value(this.#root, "", undefined, 0);
  }

  #value(unresolved: JsonSchema, name: string, bound: Quote | undefined, depth: number): unknown {
    const schema = this.#resolve(unresolved, depth);
    if ("const" in schema) return schema["const"];
    if (Array.isArray(schema["enum"])) return (schema["enum"] as readonly unknown[])[0];
    switch (this.#typeOf(schema)) {
      case "object":
        return this.#object(schema, bound, depth);
      case "array":
        return this.#array(schema, name, bound, depth);
      case "number":
      case "integer":
        return this.#number(schema);
      case "boolean":
        return false;
      case "null":
        return null;
      default:
        return this.#string(schema, name, bound);
    }
  }

  /** Follows references and selects the first branch that is not null. */
  #resolve(schema: JsonSchema, depth: number): JsonSchema {
    if (depth > MAX_DEPTH) return { type: "null" };
    const reference = schema["$ref"];
    if (typeof reference === "string") return this.#resolve(this.#referenced(reference), depth + 1);
    const branches = [...schemas(schema["anyOf"]), ...schemas(schema["oneOf"])];
    const branch = branches.find((candidate) => candidate["type"] !== "null") ?? branches[0];
    if (branch !== undefined) return this.#resolve(branch, depth + 1);
    const parts = schemas(schema["allOf"]).map((part) => this.#resolve(part, depth + 1));
    return parts.length === 0 ? schema : parts.reduce(merge, schema);
  }

  #referenced(reference: string): JsonSchema {
    let current: unknown = this.#root;
    for (const key of reference.replace(/^#\/?/, "").split("/").filter(Boolean)) {
      const plain = decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~");
      current = isObject(current) && Object.hasOwn(current, plain) ? current[plain] : undefined;
    }
    return isObject(current) ? current : {};
  }

  #typeOf(schema: JsonSchema): string {
    const type = schema["type"];
    if (Array.isArray(type)) return String(type.find((name) => name !== "null") ?? "null");
    if (typeof type === "string") return type;
    if (isObject(schema["properties"])) return "object";
    return isObject(schema["items"]) || Array.isArray(schema["prefixItems"]) ? "array" : "string";
  }

  #object(schema: JsonSchema, bound: Quote | undefined, depth: number): unknown {
    const properties = isObject(schema["properties"]) ? schema["properties"] : {};
    const required = new Set(
      Array.isArray(schema["required"]) ? (schema["required"] as readonly unknown[]) : [],
    );
    const entries = Object.entries(properties).flatMap(([name, property]): [string, unknown][] => {
      if (!isObject(property) || !(required.has(name) || this.#isTextual(property, depth)))
        return [];
      return [[name, this.#value(property, name, bound, depth + 1)]];
    });
    return Object.fromEntries(entries);
  }

  /**
   * Whether a property is a string or a list of strings. Such a property is filled even if it is
   * optional.
   */
  #isTextual(property: JsonSchema, depth: number): boolean {
    const schema = this.#resolve(property, depth + 1);
    if (this.#typeOf(schema) !== "array") return this.#typeOf(schema) === "string";
    const items = schema["items"];
    return isObject(items) && this.#typeOf(this.#resolve(items, depth + 1)) === "string";
  }

  #array(schema: JsonSchema, name: string, bound: Quote | undefined, depth: number): unknown {
    const [least, most] = [
      numberAt(schema, "minItems", 0),
      numberAt(schema, "maxItems", Number.POSITIVE_INFINITY),
    ];
    const tuple = schemas(schema["prefixItems"]).map((item) =>
      this.#value(item, name, bound, depth + 1),
    );
    if (tuple.length > 0) return tuple;
    const items = isObject(schema["items"]) ? schema["items"] : {};
    const item = (quote: Quote | undefined): unknown => this.#value(items, name, quote, depth + 1);
    const wanted = this.#holdsText(items, depth)
      ? bound === undefined
        ? this.#best(most)
        : [bound]
      : [];
    const filled = depth < MAX_DEPTH ? wanted.slice(0, most).map(item) : [];
    const values = isSourceName(name) ? [...new Set(filled)] : filled;
    while (values.length < Math.min(least, 100)) values.push(item(this.#take(() => true)));
    return values;
  }

  /** Returns the best quotes in the order of the source. A list then reads like the source. */
  #best(most: number): readonly Quote[] {
    const place = (quote: Quote): number => this.#order.get(quote) ?? 0;
    return this.#quotes.slice(0, most).sort((a, b) => place(a) - place(b));
  }

  /** Whether the schema contains a string for a sentence. */
  #holdsText(unresolved: JsonSchema, depth: number): boolean {
    if (depth > MAX_DEPTH) return false;
    const schema = this.#resolve(unresolved, depth);
    if ("const" in schema || "enum" in schema) return false;
    const type = this.#typeOf(schema);
    const inner =
      type === "object"
        ? Object.values(isObject(schema["properties"]) ? schema["properties"] : {})
        : type === "array"
          ? [schema["items"]]
          : [];
    return (
      type === "string" || inner.some((part) => isObject(part) && this.#holdsText(part, depth + 1))
    );
  }

  #number(schema: JsonSchema): number {
    const least = Math.max(
      numberAt(schema, "minimum", 0),
      numberAt(schema, "exclusiveMinimum", -1) + 1,
    );
    return Math.min(least, numberAt(schema, "maximum", Number.POSITIVE_INFINITY));
  }

  #string(schema: JsonSchema, name: string, bound: Quote | undefined): string {
    const limit = numberAt(schema, "maxLength", Number.POSITIVE_INFINITY);
    const quote = bound ?? this.#take(({ text }) => isSourceName(name) || text.length <= limit);
    const text =
      isSourceName(name) && quote !== undefined
        ? (quote.source ?? UNKNOWN_SOURCE)
        : (quote?.text ?? this.#fallback);
    return text.length <= limit ? text : text.slice(0, limit).replace(/\s+\S*$/, "");
  }

  /** Returns the next matching quote in rotation. If none matches, returns the next quote. */
  #take(fits: (quote: Quote) => boolean): Quote | undefined {
    const count = this.#quotes.length;
    const turn = Array.from({ length: count }, (_, index) => (this.#next + index) % count);
    // the index is below the length
    const index = turn.find((candidate) => fits(this.#quotes[candidate] as Quote)) ?? turn[0];
    if (index === undefined) return undefined;
    this.#next = (index + 1) % count;
    return this.#quotes[index];
  }
}

function merge(a: JsonSchema, b: JsonSchema): JsonSchema {
  const both = (field: string): readonly unknown[] =>
    [a, b].flatMap((schema) =>
      Array.isArray(schema[field]) ? (schema[field] as readonly unknown[]) : [],
    );
  const properties = {
    ...(isObject(a["properties"]) ? a["properties"] : {}),
    ...(isObject(b["properties"]) ? b["properties"] : {}),
  };
  return {
    ...a,
    ...b,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    required: both("required"),
  };
}
