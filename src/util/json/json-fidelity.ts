import { isObject } from "../objects.js";

/** JSON counts as changing values at a greater depth. */
const MAX_DEPTH = 500;

/** Returns whether JSON preserves a value. Undefined fields count as missing. */
export function survivesJson(value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0);
    case "undefined":
      return depth === 0;
    case "object":
      return value === null || holdsOnlyJson(value, depth);
    default:
      return false;
  }
}

function holdsOnlyJson(value: object, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value))
    return value.every((item) => item !== undefined && survivesJson(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!isObject(value) || (prototype !== null && prototype !== Object.prototype)) return false;
  return Object.values(value).every(
    (field) => field === undefined || survivesJson(field, depth + 1),
  );
}
