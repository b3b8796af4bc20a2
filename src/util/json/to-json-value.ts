import { inspect } from "node:util";
import { messageOf } from "../errors.js";

const MAX_DEPTH = 200;
const MAX_NODES = 200_000;
const MAX_CHARACTERS = 20_000_000;
const MAX_DESCRIPTION = 2_000;

/** How values become JSON. */
export interface JsonValueRules {
  /** Sees every text and every description of what is no text. */
  readonly text?: ((text: string) => string) | undefined;
  /** Says for the name of a field that its value must not be seen. */
  readonly hides?: ((field: string) => boolean) | undefined;
  /** Values, whatever their kind, after which the rest is left out. Default 200,000. */
  readonly maxNodes?: number | undefined;
  /** Characters of texts after which the rest is left out. Default 20,000,000. */
  readonly maxCharacters?: number | undefined;
}

/** What stands in the place of a secret. */
export const REDACTED = "[redacted]";

/** Values that JSON would make an empty object of: a Map, a RegExp, a Promise. */
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

/** One conversion, with what is left of its bounds. */
class Conversion {
  readonly #rules: JsonValueRules;
  readonly #ancestors = new Set<object>();
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
      return this.#text(`[Unreadable: ${messageOf(e)}]`); // a getter or toJSON of the user's that throws
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
    return this.#fields(value as Readonly<Record<string, unknown>>); // its own keys are read
  }

  #array(value: readonly unknown[]): unknown[] {
    const items: unknown[] = [];
    for (let i = 0; i < value.length; i++) {
      if (this.#nodes <= 0) return [...items, `[Too large: ${value.length - i} more]`]; // also what keeps a sparse array of a billion from being walked
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
      const hidden =
        this.#rules.hides?.(key) === true &&
        field !== undefined &&
        field !== null &&
        field !== "" &&
        typeof field !== "boolean";
      fields.push([
        this.#rules.text === undefined ? key : this.#rules.text(key),
        hidden ? REDACTED : this.convert(field),
      ]);
    }
    return Object.fromEntries(fields);
  }
}

/**
 * `value` as `JSON.stringify` can take it without throwing: what JSON cannot carry (cycles, BigInt, functions, NaN, Map) becomes a text, and what is
 * beyond the bounds is left out.
 */
export function toJsonValue(value: unknown, rules: JsonValueRules = {}): unknown {
  return new Conversion(rules).convert(value);
}
