import { setMaxListeners } from "node:events";
import { Cancellation } from "../../../util/abort/cancellation.js";
import { settleWithin } from "../../../util/abort/timeouts.js";

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
  readonly #end = new Cancellation();
  readonly #caller: AbortSignal | undefined;
  readonly #idleTimer: NodeJS.Timeout;
  #waiting = 0;

  /** `onTimeout` makes the error with which the call ends when it goes over a limit. */
  constructor(
    caller: AbortSignal | undefined,
    limits: CallLimits,
    onTimeout: (exceeded: ExceededLimit) => Error,
  ) {
    this.#caller = caller;
    this.#end.expire(limits.timeoutMs, () => onTimeout("timeoutMs"));
    // The time in which the reader of a stream is busy with what it has is no silence of the server.
    this.#idleTimer = setTimeout(
      () => void (this.#waiting > 0 && this.#end.cancel(onTimeout("idleTimeoutMs"))),
      limits.idleTimeoutMs,
    );
    if (caller === undefined) return;
    // The calls of a whole run share its signal; the platform would take more than ten of them for a leak, and say so on the console.
    if (caller instanceof AbortSignal) setMaxListeners(0, caller);
    this.#end.follow(caller);
  }

  /** For the transport; its reason is what the call rejects with. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Whether the caller gave up, as opposed to the time being over. */
  get cancelled(): boolean {
    return this.#caller?.aborted === true;
  }

  /** The result of `work`, or a rejection with the signal's reason as soon as the call has ended. The idle time begins anew. */
  async race<T>(work: PromiseLike<T>): Promise<T> {
    this.#waiting++;
    this.#idleTimer.refresh();
    try {
      return await settleWithin(work, this.#end);
    } finally {
      this.#waiting--;
    }
  }

  /** Releases the timers and the caller's signal, and, unless the work is done, whatever connection is still open. */
  close(o: { readonly isDone: boolean }): void {
    clearTimeout(this.#idleTimer);
    if (o.isDone) this.#end.dispose();
    else this.#end.cancel(new DOMException("The call has ended", "AbortError"));
  }
}
