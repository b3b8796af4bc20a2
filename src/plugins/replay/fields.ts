import { preview } from "../../contracts/validation.js";

/** Plain data out of a file. */
export type Fields = Readonly<Record<string, unknown>>;

/** Why a piece of a file is not what it should be. */
export class Misshapen extends Error {}

export function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Misshapen(`${what} must be an object, got: ${preview(value)}`);
  return value as Fields; // an object, as was checked
}

export function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== "string") throw new Misshapen(`'${name}' must be a text, got: ${preview(value)}`);
  return value;
}

export function optionalText(fields: Fields, name: string): string | undefined {
  return fields[name] === undefined || fields[name] === null ? undefined : textOf(fields, name);
}

export function numberOf(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== "number" || !Number.isFinite(value)) throw new Misshapen(`'${name}' must be a number, got: ${preview(value)}`);
  return value;
}

export function listOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (!Array.isArray(value)) throw new Misshapen(`'${name}' must be a list, got: ${preview(value)}`);
  return value;
}

/** An instant; in memory a trace has dates, in a file texts. */
export function instantOf(fields: Fields, name: string): Date {
  const value = fields[name];
  const date = value instanceof Date ? value : new Date(textOf(fields, name));
  if (Number.isNaN(date.getTime())) throw new Misshapen(`'${name}' must be an instant, got: ${preview(value)}`);
  return date;
}
