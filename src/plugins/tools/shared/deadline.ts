/** The time for a piece of work, ended earlier by the caller's signal. Whatever waits does so through `race`; `end` must be called when all is done. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = (): void => this.#controller.abort(this.#caller?.reason);

  constructor(timeoutMs: number, late: () => Error, caller: AbortSignal | undefined) {
    caller?.throwIfAborted();
    this.#caller = caller;
    this.#timer = setTimeout(() => this.#controller.abort(late()), timeoutMs);
    caller?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Its reason is the caller's, or the error of being late. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The result of `work`, or the signal's reason as soon as there is one: for work that can't be ended. */
  async race<T>(work: PromiseLike<T>): Promise<T> {
    const { signal } = this;
    signal.throwIfAborted();
    let stop: (() => void) | undefined;
    const stopped = new Promise<never>((_resolve, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
    });
    try {
      return await Promise.race([work, stopped]);
    } finally {
      if (stop !== undefined) signal.removeEventListener("abort", stop);
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onAbort);
  }
}
