import { inspect } from "node:util";
import { messageOf } from "../errors.js";

const MAX_DEPTH = 200;
const MAX_NODES = 200_000;
const MAX_CHARACTERS = 20_000_000;
const MAX_DESCRIPTION = 2_000;

/** Rules for converting values to JSON. */
export interface JsonValueRules {
  /** Filters every text and every description of another value. */
  readonly text?: ((text: string) => string) | undefined;
  /** Returns whether to hide the value of the field with this name. */
  readonly hides?: ((field: string) => boolean) | undefined;
  /** Limit of values of any kind. The rest is omitted. Default 200,000. */
  readonly maxNodes?: number | undefined;
  /** Limit of characters in texts. The rest is omitted. Default 20,000,000. */
  readonly maxCharacters?: number | undefined;
}

/** Replaces a secret. */
export const REDACTED = "[redacted]";

/** Returns whether JSON would turn the value into an empty object: a Map, a RegExp, a Promise. */
function isOpaque(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype && Object.keys(value).length === 0;
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

function describe(value: unknown): string {
  const text = inspect(value, { depth: 2, breakLength: Number.POSITIVE_INFINITY });
  return text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION)}...` : text;
}

interface FieldName {
  readonly shown: string;
  /** Whether values of the field are hidden. */
  readonly hides: boolean;
}

/** One conversion, with the rest of its limits. */
class Conversion {
  readonly #rules: JsonValueRules;
  readonly #ancestors = new Set<object>();
  /** Cached decisions about field names, because the objects of a list have the same names. */
  readonly #names = new Map<string, FieldName>();
  #nodes: number;
  #characters: number;

  constructor(rules: JsonValueRules) {
    this.#rules = rules;
    this.#nodes = rules.maxNodes ?? MAX_NODES;
    this.#characters = rules.maxCharacters ?? MAX_CHARACTERS;
  }

  convert(value: unknown): unknown {
    if (--this.#nodes < 0) return "[Too large]";
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "boolean":
      case "undefined":
        return value;
      case "number":
        return Number.isFinite(value) ? value : String(value);
      case "object":
        return value === null ? null : this.#guarded(value);
      default:
        return this.#text(describe(value));
    }
  }

  #text(text: string): string {
    const left = this.#characters;
    this.#characters -= text.length;
    const kept = text.length <= left ? text : `${text.slice(0, Math.max(0, left))}[Too large]`;
    return this.#rules.text === undefined ? kept : this.#rules.text(kept);
  }

  #guarded(value: object): unknown {
    if (this.#ancestors.has(value)) return "[Circular]";
    if (this.#ancestors.size >= MAX_DEPTH) return "[Too deep]";
    this.#ancestors.add(value);
    try {
      return this.#object(value);
    } catch (e) {
      return this.#text(`[Unreadable: ${messageOf(e)}]`); // a getter or toJSON of the user threw
    } finally {
      this.#ancestors.delete(value);
    }
  }

  #object(value: object): unknown {
    if (value instanceof Date)
      return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
    if (value instanceof Error) return this.#text(`${value.name}: ${messageOf(value)}`);
    if (ArrayBuffer.isView(value))
      return `[${value.constructor.name} of ${value.byteLength} bytes]`;
    if (hasToJson(value)) return this.convert(value.toJSON());
    if (Array.isArray(value)) return this.#array(value);
    if (isOpaque(value)) return this.#text(describe(value));
    return this.#fields(value as Readonly<Record<string, unknown>>); // the object's keys are read
  }

  #array(value: readonly unknown[]): unknown[] {
    const items: unknown[] = [];
    for (let i = 0; i < value.length; i++) {
      // Also ends the conversion of a sparse array with a billion items.
      if (this.#nodes <= 0) return [...items, `[Too large: ${value.length - i} more]`];
      items.push(this.convert(value[i] ?? null));
    }
    return items;
  }

  #fields(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const fields: [string, unknown][] = [];
    for (const key of Object.keys(value)) {
      if (this.#nodes <= 0) {
        fields.push(["[Too large]", "..."]);
        break;
      }
      const field = value[key];
      const { shown, hides } = this.#nameOf(key);
      const hidden =
        hides &&
        field !== undefined &&
        field !== null &&
        field !== "" &&
        typeof field !== "boolean";
      fields.push([shown, hidden ? REDACTED : this.convert(field)]);
    }
    return Object.fromEntries(fields);
  }

  #nameOf(key: string): FieldName {
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const { text, hides } = this.#rules;
    const name = { shown: text === undefined ? key : text(key), hides: hides?.(key) === true };
    this.#names.set(key, name);
    return name;
  }
}

/**
 * Returns `value` in a form that `JSON.stringify` accepts. Values without JSON (cycles, BigInt,
 * functions, NaN, Map) become texts. Values beyond the limits are omitted.
 */
export function toJsonValue(value: unknown, rules: JsonValueRules = {}): unknown {
  return new Conversion(rules).convert(value);
}
