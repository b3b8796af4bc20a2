import { setMaxListeners } from "node:events";
import { Cancellation } from "../../../util/abort/cancellation.js";
import { settleWithin } from "../../../util/abort/timeouts.js";

/** The time limits of a call, in milliseconds. */
export interface CallLimits {
  /** For the whole call. */
  readonly timeoutMs: number;
  /** For idle time: until the response begins, or between two parts of it. */
  readonly idleTimeoutMs: number;
}

/** The limit that a call has exceeded. */
export type ExceededLimit = keyof CallLimits;

/**
 * Ends a call by the caller's signal or by a time limit. `race` does not depend on the other side
 * listening to the signal, so a call ends immediately in every state.
 */
export class CallDeadline {
  readonly #end = new Cancellation();
  readonly #caller: AbortSignal | undefined;
  readonly #idleTimer: NodeJS.Timeout;
  #waiting = 0;

  /** `onTimeout` creates the error of a call that exceeds a limit. */
  constructor(
    caller: AbortSignal | undefined,
    limits: CallLimits,
    onTimeout: (exceeded: ExceededLimit) => Error,
  ) {
    this.#caller = caller;
    this.#end.expire(limits.timeoutMs, () => onTimeout("timeoutMs"));
    // The time in which the reader processes a part is not idle time.
    this.#idleTimer = setTimeout(
      () => void (this.#waiting > 0 && this.#end.cancel(onTimeout("idleTimeoutMs"))),
      limits.idleTimeoutMs,
    );
    if (caller === undefined) return;
    // All calls of a run share its signal. The platform would print a warning of a leak for more
    // than ten listeners.
    if (caller instanceof AbortSignal) setMaxListeners(0, caller);
    this.#end.follow(caller);
  }

  /** The signal for the transport. The call rejects with the reason of this signal. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Whether the caller has aborted. False after a time limit. */
  get cancelled(): boolean {
    return this.#caller?.aborted === true;
  }

  /**
   * Returns the result of `work`. Rejects with the signal's reason as soon as the call has ended.
   * Restarts the idle time.
   */
  async race<T>(work: PromiseLike<T>): Promise<T> {
    this.#waiting++;
    this.#idleTimer.refresh();
    try {
      return await settleWithin(work, this.#end);
    } finally {
      this.#waiting--;
    }
  }

  /**
   * Releases the timers and the caller's signal. Also closes an open connection, unless the work is
   * done.
   */
  close(o: { readonly isDone: boolean }): void {
    clearTimeout(this.#idleTimer);
    if (o.isDone) this.#end.dispose();
    else this.#end.cancel(new DOMException("The call has ended", "AbortError"));
  }
}
