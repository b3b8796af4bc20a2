/** A clock that a test advances. */
export class SteppingClock {
  #ms = 0;
  readonly #sleeping = new Set<{ readonly at: number; readonly wake: () => void }>();

  monotonicMs(): number {
    return this.#ms;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { at: this.#ms + ms, wake: resolve };
      this.#sleeping.add(sleeper);
      signal.addEventListener("abort", () => {
        this.#sleeping.delete(sleeper);
        reject(new Error("stopped"));
      });
    });
  }

  /** Advances the time, and ends expired sleeps. */
  step(ms: number): void {
    this.#ms += ms;
    for (const sleeper of [...this.#sleeping])
      if (sleeper.at <= this.#ms) {
        this.#sleeping.delete(sleeper);
        sleeper.wake();
      }
  }
}
