import type { Clock } from "../contracts/runtime.js";
import { NetworkError } from "../contracts/network-errors.js";
import { startClockTimer } from "../plugins/network/shared/clock-timer.js";
import { settleWithin, sleep } from "../util/abort/timeouts.js";
import { randomShare } from "../util/runtime.js";

/** Resolves after `ms` milliseconds of the clock, or at the abort. Never rejects. */
export async function clockPause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  try {
    await (clock.sleep === undefined ? sleep(ms, signal) : clock.sleep(ms, signal));
  } catch {
    // aborted
  }
}

/**
 * Settles as `work`, which continues where it does not settle in time.
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

/** Delays of repeated attempts: doubled from `firstMs` to `mostMs`, each spread by half. */
export interface BackoffOptions {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** The delay before the attempt after `failures` failed ones, in milliseconds. */
export function backoffMs(failures: number, { firstMs, mostMs }: BackoffOptions): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(30, failures - 1));
  return full * (0.5 + randomShare() / 2); // replicas must not repeat at the same moment
}
