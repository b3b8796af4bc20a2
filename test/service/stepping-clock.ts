import type { Clock, Plugin } from "../../src/index.js";
import { Tokens, definePlugin } from "../../src/index.js";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that a test advances. */
export class SteppingClock implements Clock {
  readonly #startMs: number;
  readonly #sleepers = new Set<Sleeper>();
  #ms = 0;

  constructor(start = "2026-01-01T00:00:00Z") {
    this.#startMs = Date.parse(start);
  }

  /** The number of waits for a time of this clock. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  now(): Date {
    return new Date(this.#startMs + this.#ms);
  }

  monotonicMs(): number {
    return this.#ms;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason as Error);
      };
      const sleeper = {
        at: this.#ms + ms,
        wake: (): void => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      if (signal.aborted) return leave();
      signal.addEventListener("abort", leave, { once: true });
      this.#sleepers.add(sleeper);
    });
  }

  /** Advances by `ms` milliseconds, from one sleeper to the next. */
  async advance(ms: number): Promise<void> {
    const end = this.#ms + ms;
    await settle();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#ms = Math.max(this.#ms, next.at);
      this.#sleepers.delete(next);
      next.wake();
      await settle();
    }
    this.#ms = end;
    await settle();
  }

  /** Advances by `ms` milliseconds at once: sleepers wake afterwards. */
  async jump(ms: number): Promise<void> {
    await settle();
    this.#ms += ms;
  }

  /** Binds this clock. */
  plugin(): Plugin {
    return definePlugin({
      name: "stepping-clock",
      bind: (bind) => void bind.single(Tokens.Clock).toConstantValue(this),
    });
  }

  #next(end: number): Sleeper | undefined {
    return [...this.#sleepers]
      .filter(({ at }) => at <= end)
      .sort((a, b) => a.at - b.at)
      .at(0);
  }
}

/** Waits until all due callbacks have run, and their modules and files are loaded. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20 || isReadingFiles(); turn++)
    await new Promise<void>((resolve) => setImmediate(resolve));
}

function isReadingFiles(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"));
}
