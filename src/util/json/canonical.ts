import { isObject } from "../objects.js";

/**
 * Returns JSON in which equal values are equal texts: keys sorted, undefined fields omitted.
 * @throws TypeError for a value without JSON (a cycle, a BigInt).
 */
export function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_key, field: unknown) =>
      isObject(field) ? Object.fromEntries(Object.entries(field).sort(byKey)) : field,
    ) ?? "null"
  );
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
