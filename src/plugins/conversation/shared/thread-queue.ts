import type { ThreadLockOptions } from "../../../contracts/conversation.js";
import { ThreadBusyError } from "../../../contracts/conversation-errors.js";
import { startTimer } from "../../../util/abort/timer.js";
import { toError } from "../../../util/errors.js";

type Grant = () => void;

/** One lock per thread within this process, granted in the order of the calls. */
export class ThreadQueue {
  /** The locked threads, each with its waiting callers. */
  readonly #held = new Map<string, Grant[]>();

  /**
   * Returns the function that frees the lock.
   * @throws ThreadBusyError; the reason of the signal.
   */
  async take(threadId: string, options: ThreadLockOptions): Promise<() => void> {
    options.signal.throwIfAborted();
    const waiting = this.#held.get(threadId);
    if (waiting === undefined) this.#held.set(threadId, []);
    else await turnIn(waiting, threadId, options);
    let held = true;
    return () => {
      if (held) this.#release(threadId);
      held = false;
    };
  }

  /** Passes the lock to the next waiting caller, so that no new caller takes it first. */
  #release(threadId: string): void {
    const next = this.#held.get(threadId)?.shift();
    if (next === undefined) this.#held.delete(threadId);
    else next();
  }
}

function turnIn(
  waiting: Grant[],
  threadId: string,
  { timeoutMs, signal }: ThreadLockOptions,
): Promise<void> {
  if (timeoutMs === 0) return Promise.reject(new ThreadBusyError(threadId, 0));
  return new Promise((resolve, reject) => {
    const end = (): void => {
      stopTimer();
      signal.removeEventListener("abort", onAbort);
    };
    const grant: Grant = () => {
      end();
      resolve();
    };
    const giveUp = (error: Error): void => {
      end();
      waiting.splice(waiting.indexOf(grant), 1);
      reject(error);
    };
    const onAbort = (): void => giveUp(toError(signal.reason));
    const stopTimer = startTimer(timeoutMs, () => giveUp(new ThreadBusyError(threadId, timeoutMs)));
    signal.addEventListener("abort", onAbort, { once: true });
    waiting.push(grant);
  });
}
