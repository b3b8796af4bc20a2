import type { ReviewQuestion } from "../../../contracts/review.js";
import type { JsonSchema } from "../../../contracts/types.js";
import { excerptJson } from "../../../util/json/excerpt.js";
import { toJsonValue } from "../../../util/json/to-json-value.js";
import { asList, isObject } from "../../../util/objects.js";

/** An input in its shown form: the complete input as data, and a text that may be shortened. */
export interface ShownInput extends Required<Pick<ReviewQuestion, "input" | "truncated">> {
  readonly text: string;
}

/**
 * Shows an input with its keys in the order of the schema. A model could otherwise choose an order
 * that hides important fields.
 */
export function shownInput(value: unknown, schema: JsonSchema | undefined): ShownInput {
  const data = toJsonValue(value);
  const input = inOrder(data, schema);
  const { text, isWhole } = excerptJson(input);
  return { input, text, truncated: !isWhole || !isFaithful(value, data) };
}

/** Sorts keys of the schema first, in its order, then the others by name. */
function inOrder(value: unknown, schema: unknown): unknown {
  const { properties, items } = isObject(schema) ? schema : {};
  if (Array.isArray(value)) return (value as unknown[]).map((item) => inOrder(item, items));
  if (!isObject(value)) return value;
  const known = isObject(properties) ? properties : {};
  const names = Object.keys(known).filter((name) => Object.hasOwn(value, name));
  const others = Object.keys(value).filter((name) => !Object.hasOwn(known, name));
  return Object.fromEntries(
    [...names, ...others.sort()].map((name) => [
      name,
      inOrder(value[name], Object.hasOwn(known, name) ? known[name] : undefined),
    ]),
  );
}

/**
 * Whether JSON represents a value completely. False for a Map, a function, or a value beyond the
 * limits.
 */
function isFaithful(value: unknown, data: unknown): boolean {
  try {
    return JSON.stringify(value) === JSON.stringify(data) && !hasLost(value);
  } catch {
    return false; // a cycle, a BigInt
  }
}

/** Whether JSON omits a field. */
function hasLost(value: unknown): boolean {
  if (typeof value === "function" || typeof value === "symbol") return true;
  if (Array.isArray(value)) return asList(value).some(hasLost);
  return isObject(value) && Object.values(value).some(hasLost);
}
