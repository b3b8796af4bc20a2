/** An object of a JSON document. A field that is missing or has another type returns a default. */
export class JsonObject {
  readonly #fields: Readonly<Record<string, unknown>>;

  /** `value` may be anything. A value that is not an object has no fields. */
  constructor(value: unknown) {
    const isFields = typeof value === "object" && value !== null && !Array.isArray(value);
    this.#fields = isFields ? (value as Readonly<Record<string, unknown>>) : {}; // checked above
  }

  raw(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
  }

  optionalText(name: string): string | undefined {
    const value = this.raw(name);
    return typeof value === "string" ? value : undefined;
  }

  text(name: string): string {
    return this.optionalText(name) ?? "";
  }

  optionalNumber(name: string): number | undefined {
    const value = this.raw(name);
    return typeof value === "number" && Number.isFinite(value) ? value : undefined;
  }

  number(name: string, missing: number): number {
    return this.optionalNumber(name) ?? missing;
  }

  /** Returns an ISO instant in milliseconds since 1970. Returns `missing` for any other value. */
  instant(name: string, missing: number): number {
    const ms = Date.parse(this.text(name));
    return Number.isNaN(ms) ? missing : ms;
  }

  list(name: string): readonly JsonObject[] {
    return this.values(name).map((value) => new JsonObject(value));
  }

  texts(name: string): readonly string[] {
    return this.values(name).filter((value) => typeof value === "string");
  }

  values(name: string): readonly unknown[] {
    const value = this.raw(name);
    return Array.isArray(value) ? value : [];
  }

  object(name: string): JsonObject {
    return new JsonObject(this.raw(name));
  }

  /** The names and values of all fields. */
  entries(): readonly (readonly [string, unknown])[] {
    return Object.entries(this.#fields);
  }
}
