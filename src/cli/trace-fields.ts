import type { JsonPath } from "../util/json/locate.js";
import type { Fields } from "../util/objects.js";
import { preview } from "../contracts/validation.js";
import { isObject } from "../util/objects.js";

/** Reports an invalid trace, and the position of the problem. */
export class MisshapenTrace extends Error {
  constructor(
    message: string,
    readonly path: JsonPath,
  ) {
    super(message);
  }
}

function pathName(path: JsonPath): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return text === "" ? "the document" : text.replace(/^\./, "");
}

const ISO_DURATION =
  /^-?P(?:(\d+(?:\.\d+)?)D)?T?(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?$/;

/** Maximum number of steps of a path. Each delegation has three steps. */
const DEEPEST = 600;

/** One object of a trace. A missing field is unknown. A field of another type is an error. */
export class TraceFields {
  readonly #value: Fields;
  readonly #path: JsonPath;

  /** @throws MisshapenTrace for a value that is not an object, or is nested too deeply. */
  constructor(value: unknown, path: JsonPath) {
    if (!isObject(value))
      throw new MisshapenTrace(`${pathName(path)} must be an object, got: ${preview(value)}`, path);
    if (path.length > DEEPEST)
      throw new MisshapenTrace(`Delegations are nested deeper than ${DEEPEST / 3} levels`, path);
    this.#value = value;
    this.#path = path;
  }

  text(name: string): string {
    return this.optionalText(name) ?? "";
  }

  optionalText(name: string): string | undefined {
    const value = this.#get(name);
    if (value === undefined || typeof value === "string") return value;
    throw this.#wrong(name, "a text");
  }

  /** Returns the number in a field. Returns `unknown` if there is none. */
  number(name: string, unknown: number): number {
    const value = this.#get(name);
    if (value === undefined) return unknown;
    if (typeof value === "number") return value;
    throw this.#wrong(name, "a number");
  }

  flag(name: string): boolean | undefined {
    const value = this.#get(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw this.#wrong(name, "true or false");
  }

  /** Returns the milliseconds of an ISO-8601 duration. Returns -1 if there is none. */
  duration(name: string): number {
    const text = this.optionalText(name);
    if (text === undefined) return -1;
    const match = ISO_DURATION.exec(text);
    if (match === null || !/\d/.test(text))
      throw this.#wrong(name, "an ISO-8601 duration such as PT1.5S");
    const [days = 0, hours = 0, minutes = 0, seconds = 0] = match
      .slice(1)
      .map((part) => Number(part ?? 0));
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000;
  }

  list(name: string): readonly TraceFields[] {
    const value = this.#get(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.#wrong(name, "a list");
    return value.map((item: unknown, i) => new TraceFields(item, [...this.#path, name, i]));
  }

  object(name: string): TraceFields | undefined {
    const value = this.#get(name);
    return value === undefined ? undefined : new TraceFields(value, [...this.#path, name]);
  }

  /** Returns the unchecked value, for fields with several types. */
  raw(name: string): unknown {
    return this.#get(name);
  }

  #get(name: string): unknown {
    return Object.hasOwn(this.#value, name) ? (this.#value[name] ?? undefined) : undefined;
  }

  #wrong(name: string, kind: string): MisshapenTrace {
    const path = [...this.#path, name];
    return new MisshapenTrace(
      `${pathName(path)} must be ${kind}, got: ${preview(this.#value[name])}`,
      path,
    );
  }
}
