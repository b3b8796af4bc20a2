/** A binary heap. Returns its smallest value first. */
export class MinHeap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #values: T[] = [];

  /** `isBefore(a, b)` returns whether `a` precedes `b`. */
  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#values.length;
  }

  /** Returns the smallest value without removing it. */
  peek(): T | undefined {
    return this.#values[0];
  }

  push(value: T): void {
    let place = this.#values.push(value) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#values[parent] as T; // `parent` is smaller than the length
      if (!this.#isBefore(value, above)) break;
      this.#values[place] = above;
      place = parent;
    }
    this.#values[place] = value;
  }

  /** Removes the smallest value and returns it. */
  pop(): T | undefined {
    const first = this.#values[0];
    const last = this.#values.pop();
    if (last !== undefined && this.#values.length > 0) this.#sink(last);
    return first;
  }

  /** Puts a value at the top and moves it down to its place. */
  #sink(value: T): void {
    const values = this.#values;
    for (let place = 0; ;) {
      let child = 2 * place + 1;
      if (child + 1 < values.length && this.#isBefore(values[child + 1] as T, values[child] as T))
        child++; // both indexes are in range
      const below = values[child];
      if (below === undefined || !this.#isBefore(below, value)) {
        values[place] = value;
        return;
      }
      values[place] = below;
      place = child;
    }
  }
}
