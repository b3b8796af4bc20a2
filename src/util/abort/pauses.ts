import { randomShare } from "../runtime.js";
import { sleep } from "./timeouts.js";

/** A clock that may have its own way to wait. */
export interface PausingClock {
  sleep?(ms: number, signal: AbortSignal): Promise<void>;
}

/** Resolves after `ms` milliseconds of the clock, or at the abort. Never rejects. */
export async function clockPause(
  clock: PausingClock,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  try {
    await (clock.sleep === undefined ? sleep(ms, signal) : clock.sleep(ms, signal));
  } catch {
    // aborted
  }
}

/**
 * Delays of repeated attempts, doubled from `firstMs` to `mostMs`. Each delay is multiplied by a
 * random number from 0.5 to 1.
 */
export interface BackoffOptions {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Returns the delay before the next attempt after `failures` failed attempts, in milliseconds. */
export function backoffMs(failures: number, { firstMs, mostMs }: BackoffOptions): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(30, failures - 1));
  return full * (0.5 + randomShare() / 2); // replicas must not repeat at the same moment
}
