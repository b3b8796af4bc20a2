import { isObject } from "../objects.js";

/** JSON in which equal values look equal: keys in order, fields that are undefined left out. @throws TypeError for what has no JSON (a cycle, a BigInt). */
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
