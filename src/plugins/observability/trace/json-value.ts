import { inspect } from "node:util";
import { messageOf } from "../../../contracts/errors.js";

const MAX_DEPTH = 200;
const MAX_TEXT = 2_000;

/** What JSON has no form for, as text. */
function asText(value: unknown): string {
  const text = inspect(value, { depth: 2, breakLength: Number.POSITIVE_INFINITY });
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.keys(value).length > 0;
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

function convertObject(value: object, ancestors: readonly object[]): unknown {
  if (ancestors.includes(value)) return "[Circular]";
  if (ancestors.length >= MAX_DEPTH) return "[Too deep]";
  const path = [...ancestors, value];
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof Error) return `${value.name}: ${messageOf(value)}`;
  if (hasToJson(value)) return convert(value.toJSON(), path);
  if (Array.isArray(value)) return value.map((item: unknown) => (item === undefined ? null : convert(item, path)));
  if (!isPlain(value)) return asText(value); // a Map, a RegExp, a Promise: JSON would make an empty object of it
  const entries = Object.keys(value).map((key): [string, unknown] => [key, convert((value as Record<string, unknown>)[key], path)]); // its own keys
  return Object.fromEntries(entries);
}

function convert(value: unknown, ancestors: readonly object[]): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "object":
      if (value === null) return null;
      try {
        return convertObject(value, ancestors);
      } catch (e) {
        return `[Unreadable: ${messageOf(e)}]`; // a getter or toJSON of the user's that throws
      }
    default:
      return asText(value);
  }
}

/** `value` as `JSON.stringify` can take it without throwing: what JSON cannot carry (cycles, BigInt, functions, NaN, Map) becomes text. */
export function toJsonValue(value: unknown): unknown {
  return convert(value, []);
}
