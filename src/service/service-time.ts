import type { Clock } from "../contracts/runtime.js";
import { NetworkError } from "../contracts/network-errors.js";
import { startClockTimer } from "../plugins/network/shared/clock-timer.js";
import { settleWithin } from "../util/abort/timeouts.js";

/**
 * Settles like `work`. If `work` does not settle in time, it continues in the background.
 * @throws NetworkError after `ms` milliseconds of the clock; the reason of `signal`.
 */
export async function answeredWithin<T>(
  work: PromiseLike<T>,
  { clock, ms, signal }: { clock: Clock; ms: number; signal?: AbortSignal | undefined },
): Promise<T> {
  const late = new AbortController();
  const error = new NetworkError(`There was no answer within ${ms} ms`);
  const stopTimer = startClockTimer(clock, ms, () => late.abort(error));
  const ends = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
  try {
    return await settleWithin(work, ends);
  } finally {
    stopTimer();
  }
}
