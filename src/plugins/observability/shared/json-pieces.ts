import type { Fields } from "../../../util/objects.js";

/** A list whose items are created one by one on demand. */
export class LazyList {
  constructor(readonly items: Iterable<unknown>) {}
}

function isBranch(value: unknown): value is Fields | readonly unknown[] | LazyList {
  return typeof value === "object" && value !== null && !(value instanceof Date);
}

function* listPieces(items: Iterable<unknown>, levels: number, indent: string): Generator<string> {
  const inner = `${indent}  `;
  let isEmpty = true;
  for (const item of items) {
    yield `${isEmpty ? "[" : ","}\n${inner}`;
    isEmpty = false;
    yield* jsonPieces(item ?? null, levels - 1, inner);
  }
  yield isEmpty ? "[]" : `\n${indent}]`;
}

function* fieldPieces(fields: Fields, levels: number, indent: string): Generator<string> {
  const inner = `${indent}  `;
  let isEmpty = true;
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    yield `${isEmpty ? "{" : ","}\n${inner}${JSON.stringify(name)}: `;
    isEmpty = false;
    yield* jsonPieces(value, levels - 1, inner);
  }
  yield isEmpty ? "{}" : `\n${indent}}`;
}

/**
 * Yields the text of `JSON.stringify(value, null, 2)` in pieces, for large documents. Each value
 * below `levels` is one piece. `value` is plain JSON data and dates. Lists may be lazy.
 */
export function* jsonPieces(value: unknown, levels: number, indent = ""): Generator<string> {
  if (value instanceof LazyList) yield* listPieces(value.items, Math.max(1, levels), indent);
  else if (levels <= 0 || !isBranch(value))
    yield (JSON.stringify(value, null, 2) ?? "null").replaceAll("\n", `\n${indent}`);
  else if (Array.isArray(value)) yield* listPieces(value as readonly unknown[], levels, indent);
  else yield* fieldPieces(value as Fields, levels, indent); // neither a list nor a date
}
