/** Keys that give access to prototypes. All objects share prototypes. */
const REFUSED: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const SUSPECT = /__proto__|constructor|prototype|\\u/;

/** Returns whether to refuse a key of data from outside, because it gives access to prototypes. */
export function isRefusedKey(key: string): boolean {
  return REFUSED.has(key);
}

/**
 * Returns whether a JSON text may contain a refused key, plain or escaped. Faster than a check of
 * each key.
 */
export function mayHaveRefusedKey(text: string): boolean {
  return SUSPECT.test(text);
}

/**
 * Parses JSON text.
 * @throws SyntaxError for invalid JSON.
 * @throws Error `the key '...' is not allowed` for a refused key.
 */
export function parseWithoutRefusedKeys(text: string): unknown {
  return JSON.parse(text, mayHaveRefusedKey(text) ? refuseKeys : undefined);
}

function refuseKeys(key: string, value: unknown): unknown {
  if (isRefusedKey(key)) throw new Error(`the key '${key}' is not allowed`);
  return value;
}
