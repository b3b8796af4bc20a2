/**
 * Values that wait under a key, first in, first out. Used if one hook begins work and another ends
 * it, and the key may occur several times.
 */
export class KeyedQueue<K, V> {
  readonly #queues = new Map<K, V[]>();

  push(key: K, value: V): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, [value]);
    else queue.push(value);
  }

  /** Removes and returns the first value. */
  shift(key: K): V | undefined {
    const queue = this.#queues.get(key);
    const value = queue?.shift();
    if (queue?.length === 0) this.#queues.delete(key);
    return value;
  }

  /** Removes this value. */
  remove(key: K, value: V): void {
    const queue = this.#queues.get(key)?.filter((other) => other !== value) ?? [];
    if (queue.length === 0) this.#queues.delete(key);
    else this.#queues.set(key, queue);
  }

  /** Returns the last value. */
  last(key: K): V | undefined {
    return this.#queues.get(key)?.at(-1);
  }

  values(): V[] {
    return [...this.#queues.values()].flat();
  }
}
