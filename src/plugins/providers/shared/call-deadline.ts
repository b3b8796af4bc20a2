/**
 * What ends one call from outside: the caller's signal or the time limit, whichever comes first.
 * `race` does not rely on the other side listening to the signal, so a call ends at once in every state.
 */
export class CallDeadline {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #forward: () => void;

  /** `onTimeout` makes the error with which the call ends after `timeoutMs` milliseconds. */
  constructor(caller: AbortSignal | undefined, timeoutMs: number, onTimeout: () => Error) {
    this.#caller = caller;
    this.#forward = () => this.#controller.abort(caller?.reason);
    this.#timer = setTimeout(() => this.#controller.abort(onTimeout()), timeoutMs);
    if (caller?.aborted === true) this.#forward();
    else caller?.addEventListener("abort", this.#forward, { once: true });
  }

  /** For the transport; its reason is what the call rejects with. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the caller gave up, as opposed to the time being over. */
  get cancelled(): boolean {
    return this.#caller?.aborted === true;
  }

  /** The result of `work`, or a rejection with the signal's reason as soon as the call has ended. */
  race<T>(work: PromiseLike<T>): Promise<T> {
    const signal = this.signal;
    return new Promise<T>((resolve, reject) => {
      const stop = (): void => reject(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      work.then(
        (value) => {
          signal.removeEventListener("abort", stop);
          resolve(value);
        },
        (error: unknown) => {
          signal.removeEventListener("abort", stop);
          reject(error);
        },
      );
    });
  }

  /** Releases the timer and the caller's signal, and whatever connection is still open. */
  close(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#forward);
    this.#controller.abort();
  }
}
