import { setMaxListeners } from "node:events";

/** The time limits of a call, in milliseconds. */
export interface CallLimits {
  /** For the whole call. */
  readonly timeoutMs: number;
  /** For a silence within it: while waiting for the answer to begin, or to go on. */
  readonly idleTimeoutMs: number;
}

/** Which of the limits a call went over. */
export type ExceededLimit = keyof CallLimits;

/**
 * What ends one call from outside: the caller's signal or a time limit, whichever comes first.
 * `race` does not rely on the other side listening to the signal, so a call ends at once in every state.
 */
export class CallDeadline {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #idleTimer: NodeJS.Timeout;
  readonly #forward: () => void;
  #waiting = 0;

  /** `onTimeout` makes the error with which the call ends when it goes over a limit. */
  constructor(
    caller: AbortSignal | undefined,
    limits: CallLimits,
    onTimeout: (exceeded: ExceededLimit) => Error,
  ) {
    this.#caller = caller;
    this.#forward = () => this.#controller.abort(caller?.reason);
    this.#timer = setTimeout(
      () => this.#controller.abort(onTimeout("timeoutMs")),
      limits.timeoutMs,
    );
    // The time in which the reader of a stream is busy with what it has is no silence of the server.
    this.#idleTimer = setTimeout(
      () => void (this.#waiting > 0 && this.#controller.abort(onTimeout("idleTimeoutMs"))),
      limits.idleTimeoutMs,
    );
    if (caller?.aborted === true) this.#forward();
    else this.#listen();
  }

  /** For the transport; its reason is what the call rejects with. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the caller gave up, as opposed to the time being over. */
  get cancelled(): boolean {
    return this.#caller?.aborted === true;
  }

  /** The result of `work`, or a rejection with the signal's reason as soon as the call has ended. The idle time begins anew. */
  race<T>(work: PromiseLike<T>): Promise<T> {
    const signal = this.signal;
    this.#waiting++;
    this.#idleTimer.refresh();
    return new Promise<T>((resolve, reject) => {
      const stop = (): void => reject(signal.reason);
      const settled = (): void => {
        this.#waiting--;
        signal.removeEventListener("abort", stop);
      };
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      work.then(
        (value) => {
          settled();
          resolve(value);
        },
        (error: unknown) => {
          settled();
          reject(error);
        },
      );
    });
  }

  #listen(): void {
    // The calls of a whole run share its signal; the platform would take more than ten of them for a leak, and say so on the console.
    if (this.#caller instanceof AbortSignal) setMaxListeners(0, this.#caller);
    this.#caller?.addEventListener("abort", this.#forward, { once: true });
  }

  /** Releases the timers and the caller's signal, and, unless the work is done, whatever connection is still open. */
  close(o: { readonly isDone: boolean }): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#idleTimer);
    this.#caller?.removeEventListener("abort", this.#forward);
    if (!o.isDone) this.#controller.abort();
  }
}
