import { isObject } from "../objects.js";
import { LinearPattern, problemOfPattern } from "../regex/linear-pattern.js";

/** A schema that may be rewritten. */
type Schema = Record<string, unknown>;

/** Keywords whose values map names to schemas. */
const MAPS = new Set([
  ...["properties", "patternProperties", "$defs", "definitions"],
  ...["dependentSchemas", "dependencies"],
]);
/** Keywords whose values are data. */
const DATA = new Set(["const", "enum", "default", "examples", "required", "dependentRequired"]);

/** Names a set of values in the validator's errors. */
const MARK = "values that match the pattern";

/** Limit of all steps for the patterns of one value. */
const MOST_STEPS = 10_000_000;
/** Limit of characters in all property names compared with name patterns. */
const MOST_NAME_CHARACTERS = 20_000;

/** Reports a value whose check would cost too much. */
export class PatternLimitError extends Error {}

function isSchema(value: unknown): value is Schema {
  return isObject(value);
}

/** Yields the schema and all schemas within it. Skips data and values of other keywords. */
function* schemasIn(root: unknown): Generator<Schema> {
  const seen = new Set<unknown>();
  const open = [root];
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    if (!isSchema(schema) || seen.has(schema)) continue;
    seen.add(schema);
    yield schema;
    for (const [keyword, value] of Object.entries(schema)) {
      if (DATA.has(keyword) || typeof value !== "object" || value === null) continue;
      if (Array.isArray(value)) open.push(...(value as unknown[]));
      else if (MAPS.has(keyword)) open.push(...(Object.values(value) as unknown[]));
      else open.push(value);
    }
  }
}

function patternsOf(schema: Schema): readonly string[] {
  const { pattern, patternProperties } = schema;
  return [
    ...(typeof pattern === "string" ? [pattern] : []),
    ...(isSchema(patternProperties) ? Object.keys(patternProperties) : []),
  ];
}

/**
 * Returns the problem of the first unusable pattern of a JSON Schema, as far as the pattern texts
 * show.
 */
export function problemOfSchemaPatterns(jsonSchema: unknown): string | undefined {
  for (const schema of schemasIn(jsonSchema)) {
    for (const source of patternsOf(schema)) {
      const problem = problemOfPattern(source);
      if (problem !== undefined) return refusal(source, problem);
    }
  }
  return undefined;
}

function refusal(source: string, problem: string): string {
  const shown = source.length > 200 ? `${source.slice(0, 200)}...` : source;
  return `the pattern '${shown}' can't be used: ${problem}`;
}

/** The texts of the checked value, and the remaining limits. */
class CheckedValue {
  #texts: string[] = [];
  #names = new Set<string>();
  #nameCount = 0;
  #next = 0;
  #steps = 0;

  set(value: unknown): void {
    this.#texts = [];
    this.#names = new Set();
    this.#nameCount = this.#next = this.#steps = 0;
    const open = [value];
    while (open.length > 0) {
      const one = open.pop();
      this.spend(1);
      if (typeof one === "string") this.#texts.push(one);
      else if (Array.isArray(one)) for (let i = one.length - 1; i >= 0; i--) open.push(one[i]);
      else if (isSchema(one)) this.#addFields(one, open);
    }
  }

  #addFields(fields: Schema, open: unknown[]): void {
    const entries = Object.entries(fields);
    this.#nameCount += entries.length;
    for (const [name] of entries) {
      this.#names.add(name);
      this.#texts.push(name);
    }
    for (const [, value] of entries.reverse()) open.push(value);
  }

  /**
   * Returns the text that the validator currently checks. Returns `undefined` for another kind of
   * value.
   */
  find(isIt: (text: string) => boolean): string | undefined {
    const texts = this.#texts;
    for (let i = 0; i < texts.length; i++) {
      const index = (this.#next + i) % texts.length; // the order of the validator
      const text = texts[index];
      if (text === undefined || !isIt(text)) continue;
      this.#next = index;
      this.spend(i);
      return text;
    }
    this.spend(texts.length);
    return undefined;
  }

  matches(pattern: LinearPattern, text: string): boolean {
    this.spend(text.length * pattern.size);
    return pattern.test(text);
  }

  /**
   * Returns a regular expression that matches exactly the names of this value that match the
   * pattern.
   */
  namesMatching(pattern: LinearPattern): string {
    const names = [...this.#names].filter((name) => this.matches(pattern, name));
    this.spend(names.length * this.#nameCount);
    if (names.reduce((sum, { length }) => sum + length, 0) > MOST_NAME_CHARACTERS)
      throw new PatternLimitError(
        "the value has too many names of properties that match a pattern",
      );
    return names.length === 0
      ? "[]"
      : names.map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|");
  }

  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MOST_STEPS)
      throw new PatternLimitError("the value is too large for the patterns of its schema");
  }
}

interface NamePatterns {
  readonly schema: Schema;
  readonly schemas: readonly (readonly [LinearPattern, unknown])[];
}

/**
 * Replaces the regular expressions of a schema. Its validator then runs none of them. `pattern`
 * becomes a set (`enum`) of the matching texts. `patternProperties` becomes the matching names of
 * the checked value. The validator would match expressions without a time limit.
 */
export class SchemaPatterns {
  readonly #value = new CheckedValue();
  readonly #compiled = new Map<string, LinearPattern>();
  readonly #names: NamePatterns[] = [];

  /** Rewrites the schema in place. @throws Error with the unusable pattern. */
  static async replaceIn(jsonSchema: Schema): Promise<SchemaPatterns> {
    const patterns = new SchemaPatterns();
    for (const schema of [...schemasIn(jsonSchema)]) {
      for (const source of patternsOf(schema)) await patterns.#compile(source);
      patterns.#replace(schema);
    }
    return patterns;
  }

  /** Prepares the schema for a value. @throws PatternLimitError for a value that is too large. */
  prepare(value: unknown): void {
    if (this.#compiled.size === 0) return;
    this.#value.set(value);
    for (const { schema, schemas } of this.#names) {
      schema["patternProperties"] = Object.fromEntries(
        // The empty group makes each expression different.
        schemas.map(([pattern, inner], i) => [
          `^(?:${i}){0}(?:${this.#value.namesMatching(pattern)})$`,
          inner,
        ]),
      );
    }
  }

  async #compile(source: string): Promise<void> {
    if (this.#compiled.has(source)) return;
    const compiled = await LinearPattern.compile(source);
    if (!compiled.ok) throw new Error(refusal(source, compiled.problem));
    this.#compiled.set(source, compiled.pattern);
  }

  #replace(schema: Schema): void {
    const { pattern, patternProperties, allOf } = schema;
    if (typeof pattern === "string") {
      delete schema["pattern"];
      const set = { enum: this.#setOf(this.#patternOf(pattern)) };
      schema["allOf"] = [...(Array.isArray(allOf) ? (allOf as unknown[]) : []), set];
    }
    if (isSchema(patternProperties))
      this.#names.push({
        schema,
        schemas: Object.entries(patternProperties).map(
          ([source, inner]) => [this.#patternOf(source), inner] as const,
        ),
      });
  }

  #patternOf(source: string): LinearPattern {
    const pattern = this.#compiled.get(source);
    if (pattern === undefined) throw new Error(`the pattern '${source}' has not been compiled`);
    return pattern;
  }

  /**
   * The members of an array that the validator uses for `enum`. Values other than texts belong to
   * the set.
   */
  #setOf(pattern: LinearPattern): object {
    return {
      some: (isIt: (text: string) => boolean): boolean => {
        const text = this.#value.find(isIt);
        return text === undefined || this.#value.matches(pattern, text);
      },
      toJSON: () => MARK,
    };
  }
}

/** Returns whether the validator's error is about a pattern. */
export function isAboutPattern({
  keyword,
  error,
}: {
  readonly keyword: string;
  readonly error: string;
}): boolean {
  return keyword === "enum" && error === `Instance does not match any of ${JSON.stringify(MARK)}.`;
}
