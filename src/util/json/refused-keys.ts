/** Keys that lead to what all objects share. */
const REFUSED: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const SUSPECT = /__proto__|constructor|prototype|\\u/;

/** Whether a key of data from outside is refused, because it leads to what all objects share. */
export function isRefusedKey(key: string): boolean {
  return REFUSED.has(key);
}

/** Whether a JSON text may have a refused key, spelled out or escaped. Quicker than to look at each key. */
export function mayHaveRefusedKey(text: string): boolean {
  return SUSPECT.test(text);
}

/** Parses JSON text. @throws SyntaxError for what is no JSON. @throws Error `the key '...' is not allowed` for a refused key. */
export function parseWithoutRefusedKeys(text: string): unknown {
  return JSON.parse(text, mayHaveRefusedKey(text) ? refuseKeys : undefined);
}

function refuseKeys(key: string, value: unknown): unknown {
  if (isRefusedKey(key)) throw new Error(`the key '${key}' is not allowed`);
  return value;
}
