import { canonicalJson } from "../../util/json/canonical.js";
import { asFields } from "../../util/objects.js";
import { preview } from "../../contracts/validation.js";

/** A position where two JSON values differ. */
export interface JsonDifference {
  /** Like `$.rivers[0].name`. */
  readonly path: string;
  readonly problem: string;
}

/**
 * Returns the number of equal values in two JSON values, and the differences. Objects and lists
 * count as their contents. Empty objects and lists count as one value.
 */
export function differencesOf(
  expected: unknown,
  output: unknown,
): { readonly same: number; readonly differences: readonly JsonDifference[] } {
  const differences: JsonDifference[] = [];
  let same = 0;
  const open: (readonly [string, unknown, unknown])[] = [["$", expected, output]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [path, wanted, found] = next;
    const parts = comparedParts(path, wanted, found);
    if (parts !== undefined) open.push(...parts.reverse());
    else if (canonicalJson(wanted) === canonicalJson(found)) same++;
    else differences.push({ path, problem: problemOf(wanted, found) });
  }
  return { same, differences };
}

/** Returns the parts of two lists or two objects. Returns `undefined` for other values. */
function comparedParts(
  path: string,
  wanted: unknown,
  found: unknown,
): (readonly [string, unknown, unknown])[] | undefined {
  if (Array.isArray(wanted) && Array.isArray(found)) {
    const length = Math.max(wanted.length, found.length);
    if (length === 0) return undefined;
    return Array.from({ length }, (_, i) => [
      `${path}[${i}]`,
      (wanted as unknown[])[i],
      (found as unknown[])[i],
    ]);
  }
  const [a, b] = [asFields(wanted), asFields(found)];
  if (a === undefined || b === undefined) return undefined;
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return names.length === 0
    ? undefined
    : names.map((name) => [`${path}.${name}`, a[name], b[name]]);
}

function problemOf(wanted: unknown, found: unknown): string {
  if (found === undefined) return `missing, expected ${preview(wanted, 80)}`;
  if (wanted === undefined) return `not expected: ${preview(found, 80)}`;
  return `${preview(found, 80)}, expected ${preview(wanted, 80)}`;
}
