import { randomShare } from "../runtime.js";
import { sleep } from "./timeouts.js";

/** A clock that may delay in its own way. */
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
