import type { CachedResponse, ResponseStore } from "./response-store.js";

/** Keeps the `maxEntries` most recently used responses in this process. */
export class MemoryResponseStore implements ResponseStore {
  /** Sorted by the last use, the oldest first. */
  readonly #entries = new Map<string, CachedResponse>();

  constructor(readonly maxEntries: number) {}

  get(key: string): CachedResponse | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  set(key: string, entry: CachedResponse): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.maxEntries && oldest !== undefined) this.#entries.delete(oldest);
  }
}
