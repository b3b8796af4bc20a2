import type { JsonSchema } from "../../../../src/contracts/types.js";

type Fields = Readonly<Record<string, unknown>>;

/** References and nested parts beyond this depth are not checked. */
const DEEPEST = 40;

/**
 * Describes the first position where a value does not match a JSON Schema, as a sentence. Returns
 * `undefined` if the value matches. Ignores unknown keywords, because the server checks all
 * keywords.
 */
export function fitProblem(schema: JsonSchema, value: unknown): string | undefined {
  return new Check(schema).problemAt(schema, value, { path: "", depth: 0 });
}

interface Place {
  readonly path: string;
  readonly depth: number;
}

class Check {
  constructor(readonly root: JsonSchema) {}

  problemAt(schema: unknown, value: unknown, place: Place): string | undefined {
    if (schema === false) return problem(place, "is not allowed");
    if (!isFields(schema) || place.depth > DEEPEST) return undefined;
    const deeper = { ...place, depth: place.depth + 1 };
    if (typeof schema.$ref === "string")
      return this.problemAt(this.#target(schema.$ref), value, deeper);
    return (
      typeProblem(schema, value, place) ??
      numberProblem(schema, value, place) ??
      textProblem(schema, value, place) ??
      this.#listProblem(schema, value, place) ??
      this.#recordProblem(schema, value, place) ??
      this.#choiceProblem(schema, value, deeper)
    );
  }

  #target(reference: string): unknown {
    if (!reference.startsWith("#")) return undefined;
    const names = reference.slice(1).split("/").filter(Boolean);
    let at: unknown = this.root;
    for (const name of names) {
      const key = name.replaceAll("~1", "/").replaceAll("~0", "~");
      at = isFields(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    }
    return at;
  }

  #listProblem(schema: Fields, value: unknown, place: Place): string | undefined {
    if (!Array.isArray(value)) return undefined;
    const { minItems, maxItems, items } = schema;
    if (typeof minItems === "number" && value.length < minItems)
      return problem(place, `needs at least ${minItems} items`);
    if (typeof maxItems === "number" && value.length > maxItems)
      return problem(place, `has more than ${maxItems} items`);
    if (items === undefined) return undefined;
    for (const [i, item] of value.entries()) {
      const found = this.problemAt(items, item, within(place, `[${i}]`));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #recordProblem(schema: Fields, value: unknown, place: Place): string | undefined {
    if (!isFields(value)) return undefined;
    const properties = isFields(schema.properties) ? schema.properties : {};
    const missing = listOf(schema.required).find(
      (name) => typeof name === "string" && !Object.hasOwn(value, name),
    );
    if (typeof missing === "string") return problem(within(place, `.${missing}`), "is missing");
    for (const [name, member] of Object.entries(value)) {
      const known = Object.hasOwn(properties, name);
      if (!known && isFields(schema.patternProperties)) continue;
      const part = known ? properties[name] : schema.additionalProperties;
      if (!known && part === false)
        return problem(within(place, `.${name}`), "is not a known field");
      const found = this.problemAt(part, member, within(place, `.${name}`));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #choiceProblem(schema: Fields, value: unknown, place: Place): string | undefined {
    for (const part of listOf(schema.allOf)) {
      const found = this.problemAt(part, value, place);
      if (found !== undefined) return found;
    }
    const choices = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
    if (choices.length === 0) return undefined;
    const problems = choices.map((part) => this.problemAt(part, value, place));
    return problems.includes(undefined) ? undefined : problems[0];
  }
}

function within({ path, depth }: Place, step: string): Place {
  return { path: `${path}${step}`, depth: depth + 1 };
}

function problem({ path }: Place, text: string): string {
  const name = path.replace(/^\./, "");
  return `${name === "" ? "The value" : name} ${text}.`;
}

function typeProblem(schema: Fields, value: unknown, place: Place): string | undefined {
  const types = typeof schema.type === "string" ? [schema.type] : listOf(schema.type);
  if (types.length > 0 && !types.some((type) => isOfType(type, value)))
    return problem(place, `must be ${types.map(articled).join(" or ")}`);
  if ("const" in schema && !isSame(schema.const, value))
    return problem(place, `must be ${JSON.stringify(schema.const)}`);
  const allowed = listOf(schema.enum);
  return allowed.length > 0 && !allowed.some((one) => isSame(one, value))
    ? problem(place, `must be one of ${allowed.map((one) => JSON.stringify(one)).join(", ")}`)
    : undefined;
}

function numberProblem(schema: Fields, value: unknown, place: Place): string | undefined {
  if (typeof value !== "number") return undefined;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === "number" && value < minimum)
    return problem(place, `must be at least ${minimum}`);
  if (typeof maximum === "number" && value > maximum)
    return problem(place, `must be at most ${maximum}`);
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum)
    return problem(place, `must be above ${exclusiveMinimum}`);
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum)
    return problem(place, `must be below ${exclusiveMaximum}`);
  return undefined;
}

function textProblem(schema: Fields, value: unknown, place: Place): string | undefined {
  if (typeof value !== "string") return undefined;
  const { minLength, maxLength } = schema;
  const { length } = [...value];
  if (typeof minLength === "number" && length < minLength)
    return problem(place, `needs at least ${minLength} characters`);
  if (typeof maxLength === "number" && length > maxLength)
    return problem(place, `has more than ${maxLength} characters`);
  return undefined;
}

const ARTICLES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

function articled(type: unknown): string {
  return ARTICLES[String(type)] ?? String(type);
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isFields(value);
    case "null":
      return value === null;
    default:
      return typeof value === type || !Object.hasOwn(ARTICLES, String(type));
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
