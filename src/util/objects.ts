/** Named values of unknown types: a JSON object, or any other record of fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns whether `value` is an object with fields: no array, not null. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns whether `value` is an object with a `then` method. Functions do not count. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as PromiseLike<unknown>).then === "function"
  );
}

/** Returns `value` if it is an object, else `undefined`. */
export function asFields(value: unknown): Fields | undefined {
  return isObject(value) ? value : undefined;
}

/** Returns `value` if it is an array, else an empty array. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns `value` if it is a string, else an empty string. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns `value` if it is a finite number of at least 0, else `undefined`. */
export function asCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/**
 * Returns the `code` of an error, for instance `ENOENT`. Returns `undefined` if there is no code.
 */
export function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

/**
 * Freezes a value and all values in it, and returns the value. Not recursive: data may be nested
 * deeper than the stack allows. The value must not contain a cycle.
 */
export function deepFreeze<T>(root: T): T {
  const open: unknown[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== "object" || value === null) continue;
    Object.freeze(value);
    for (const child of Object.values(value) as unknown[])
      if (typeof child === "object" && child !== null) open.push(child);
  }
  return root;
}

/** Rounds to this number of decimals. Halves are rounded up. */
export function rounded(value: number, decimals: number): number {
  const scale = 10 ** decimals;
  // The binary form of a half may be slightly smaller.
  return Math.round(value * scale + 1e-6) / scale;
}
