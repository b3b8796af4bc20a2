import type { JsonPath } from "../../util/json/locate.js";
import type { Fields } from "../../util/objects.js";
import { preview } from "../../contracts/validation.js";
import { lineOf } from "../../util/json/locate.js";
import { isObject } from "../../util/objects.js";

/** Describes why a part of a file is invalid. `holder` and `key` are its position, if known. */
export class Misshapen extends Error {
  constructor(
    message: string,
    readonly holder?: object | undefined,
    readonly key?: string | number,
  ) {
    super(message);
  }
}

/** Returns `value` as an object. It is in `holder` under `key`. @throws Misshapen */
export function requireFields(
  value: unknown,
  what: string,
  holder?: object,
  key?: string | number,
): Fields {
  if (!isObject(value))
    throw new Misshapen(`${what} must be an object, got: ${preview(value)}`, holder, key);
  return value;
}

export function textField(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== "string")
    throw new Misshapen(`'${name}' must be a text, got: ${preview(value)}`, fields, name);
  return value;
}

export function optionalText(fields: Fields, name: string): string | undefined {
  return fields[name] === undefined || fields[name] === null ? undefined : textField(fields, name);
}

/** Returns a text, or `undefined` for a missing field. Null is invalid. */
export function absentOrText(fields: Fields, name: string): string | undefined {
  return fields[name] === undefined ? undefined : textField(fields, name);
}

export function optionalNumber(fields: Fields, name: string): number | undefined {
  return fields[name] === undefined ? undefined : numberField(fields, name);
}

/** Returns whether the field is present. Its value must be true. */
export function flagField(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (value !== undefined && typeof value !== "boolean")
    throw new Misshapen(`'${name}' must be true or false, got: ${preview(value)}`, fields, name);
  return value === true;
}

export function numberField(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== "number" || !Number.isFinite(value))
    throw new Misshapen(`'${name}' must be a number, got: ${preview(value)}`, fields, name);
  return value;
}

export function listField(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (!Array.isArray(value))
    throw new Misshapen(`'${name}' must be a list, got: ${preview(value)}`, fields, name);
  return value;
}

/** Returns a list of objects. @throws Misshapen */
export function objectsOf(fields: Fields, name: string, what: string): readonly Fields[] {
  return listField(fields, name).map((item, index, list) => requireFields(item, what, list, index));
}

/** Returns an instant. A trace in memory has dates, a file has texts. */
export function instantOf(fields: Fields, name: string): Date {
  const value = fields[name];
  const date = value instanceof Date ? value : new Date(textField(fields, name));
  if (Number.isNaN(date.getTime()))
    throw new Misshapen(`'${name}' must be an instant, got: ${preview(value)}`, fields, name);
  return date;
}

/** Returns the path to `holder` in a document. */
function pathTo(document: unknown, holder: object): JsonPath | undefined {
  if (document === holder) return [];
  if (typeof document !== "object" || document === null) return undefined;
  const isList = Array.isArray(document);
  for (const [key, value] of Object.entries(document)) {
    const rest = pathTo(value, holder);
    if (rest !== undefined) return [isList ? Number(key) : key, ...rest];
  }
  return undefined;
}

/**
 * Returns the line of a fault in the JSON document `text`. It is the line of the value, or of the
 * object without the value.
 */
export function lineOfFault({ holder, key }: Misshapen, document: unknown, text: string): number {
  const path = holder === undefined ? [] : (pathTo(document, holder) ?? []);
  return lineOf(
    text,
    holder !== undefined && key !== undefined && Object.hasOwn(holder, key) ? [...path, key] : path,
  );
}
