import { createHash } from "node:crypto";

/** Longer keys are indexed by a digest. An index entry has at most about 2,700 bytes. */
const LONGEST_KEY = 500;

/**
 * Encodes a text for a column. Quotes, backslashes, control characters and unpaired surrogates
 * become JSON escapes. PostgreSQL refuses the character 0, and UTF-8 can't encode an unpaired
 * surrogate. The encoding is unique.
 */
export function toColumn(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Decodes a text of {@link toColumn}. */
export function fromColumn(column: string): string {
  return column.includes("\\") ? String(JSON.parse(`"${column}"`)) : column;
}

/**
 * Returns the indexed form of a key: the key, or a digest. A digest begins with `\#`, which is no
 * escape. It therefore equals no short key.
 */
export function indexedKey(key: string): string {
  const column = toColumn(key);
  if (column.length <= LONGEST_KEY) return column;
  return `\\#${createHash("sha256").update(column).digest("hex")}`;
}

/** Returns a tag as an element of the column `tags`. */
export function tagColumn(name: string, value: string): string {
  return JSON.stringify([name, value]);
}
