import type { Clock } from "../../../contracts/runtime.js";

const MINUTE_MS = 60_000;
/** Number of keys above which expired keys are removed. */
const MANY_KEYS = 10_000;

/** Counts events per key in windows of a minute. */
export class MinuteLimit {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #most: number;
  readonly #windows = new Map<string, { readonly startMs: number; count: number }>();

  constructor(clock: Pick<Clock, "monotonicMs">, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Counts one event. Returns by how many events the limit is exceeded. */
  excessOf(key: string): number {
    const now = this.#clock.monotonicMs();
    let window = this.#windows.get(key);
    if (window === undefined || now - window.startMs >= MINUTE_MS) {
      window = { startMs: now, count: 0 };
      if (this.#windows.size >= MANY_KEYS) this.#forget(now);
      this.#windows.set(key, window);
    }
    return Math.max(0, ++window.count - this.#most);
  }

  #forget(now: number): void {
    for (const [key, { startMs }] of this.#windows)
      if (now - startMs >= MINUTE_MS) this.#windows.delete(key);
    // Requests from very many addresses must not exhaust the memory.
    if (this.#windows.size >= MANY_KEYS) this.#windows.clear();
  }
}
