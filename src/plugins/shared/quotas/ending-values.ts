/** Values by key that are valid until a time. Expired values are removed at the next access. */
export class EndingValues<T> {
  readonly #byEnd = new Map<number, Map<string, T>>();

  /** The number of values, including values that have expired since the last access. */
  get size(): number {
    let size = 0;
    for (const values of this.#byEnd.values()) size += values.size;
    return size;
  }

  /**
   * Returns the values that end at `endMs`, and removes the values that ended before or at `nowMs`.
   */
  until(endMs: number, nowMs: number): Map<string, T> {
    for (const end of this.#byEnd.keys()) if (end <= nowMs) this.#byEnd.delete(end);
    const known = this.#byEnd.get(endMs);
    if (known !== undefined) return known;
    const values = new Map<string, T>();
    this.#byEnd.set(endMs, values);
    return values;
  }
}
