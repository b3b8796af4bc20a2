/** Reports that too many calls are waiting. */
export class NoSlotError extends Error {}

/** Limits the number of running and of waiting calls. Waiting calls start in order of arrival. */
export class CallSlots {
  readonly #limit: number;
  readonly #waitingLimit: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limit: number, waitingLimit: number) {
    this.#limit = limit;
    this.#waitingLimit = waitingLimit;
  }

  /**
   * Runs `work` when a slot is free.
   * @throws NoSlotError, the signal's reason while it waits, and the errors of `work`
   */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#running >= this.#limit) await this.#turn(signal);
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  /** Resolves with the slot of a call that has ended. */
  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#waitingLimit)
      return Promise.reject(new NoSlotError("too many calls"));
    return new Promise<void>((resolve, reject) => {
      const take = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(take);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.add(take);
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next(); // takes over the slot
  }
}
