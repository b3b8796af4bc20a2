import type { Awaitable } from "../../../contracts/types.js";
import { AgentEnsembleError, RunCancelledError } from "../../../contracts/errors.js";

/** The longest that one timer can wait. */
const LONGEST_MS = 2_147_483_647;

/** What {@link within} gives when the time is up. */
export const TIMED_OUT: unique symbol = Symbol("timed out");

/** Calls `onTimeout` after `ms` milliseconds, however many; 0 never does. Keeps the process alive until it is stopped: somebody is waited for. */
function startTimer(ms: number, onTimeout: () => void): () => void {
  let left = ms === 0 ? Number.POSITIVE_INFINITY : ms;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const step = Math.min(left, LONGEST_MS);
    left -= step;
    timer = setTimeout(() => (left > 0 ? wait() : onTimeout()), step);
  };
  wait();
  return () => clearTimeout(timer);
}

/**
 * What `work` comes to within `ms` milliseconds (0: for ever). Its signal is aborted when the time is up and with `ended`, and neither waits for it.
 * @throws what `work` throws; the reason of `ended`.
 */
export function within<T>(
  ms: number,
  ended: AbortSignal,
  work: (signal: AbortSignal) => Awaitable<T>,
): Promise<T | typeof TIMED_OUT> {
  if (ended.aborted) return Promise.reject(endOf(ended));
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const release = (): void => {
      stop();
      ended.removeEventListener("abort", onEnd);
    };
    const onEnd = (): void => {
      release();
      reject(endOf(ended));
      controller.abort(ended.reason);
    };
    const stop = startTimer(ms, () => {
      release();
      resolve(TIMED_OUT);
      controller.abort(new Error(`Nobody answered within ${ms} ms`));
    });
    ended.addEventListener("abort", onEnd, { once: true });
    // What comes too late settles what is settled, and is ignored.
    const begin = async (): Promise<T> => work(controller.signal);
    begin().then(
      (value) => {
        release();
        resolve(value);
      },
      (error: unknown) => {
        release();
        reject(error);
      },
    );
  });
}

function endOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return AgentEnsembleError.isInstance(reason)
    ? reason
    : new RunCancelledError("The run ended while somebody was asked", { cause: reason });
}
