import { createHash } from "node:crypto";

/** Longer keys are indexed by a digest: an index takes about 2,700 bytes. */
const LONGEST_KEY = 500;

/**
 * A text for a column. Quotes, backslashes, control characters and unpaired surrogates become escapes of JSON, since PostgreSQL refuses the character 0, and
 * UTF-8 has no form of an unpaired surrogate. Different texts give different texts.
 */
export function toColumn(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The text that {@link toColumn} was given. */
export function fromColumn(column: string): string {
  return column.includes("\\") ? String(JSON.parse(`"${column}"`)) : column;
}

/** What a key is indexed by: itself, or a digest that no short key has, since `\#` is no escape. */
export function indexedKey(key: string): string {
  const column = toColumn(key);
  if (column.length <= LONGEST_KEY) return column;
  return `\\#${createHash("sha256").update(column).digest("hex")}`;
}

/** A tag as an element of the column `tags`. */
export function tagColumn(name: string, value: string): string {
  return JSON.stringify([name, value]);
}
