import type { Clock } from "../../../contracts/runtime.js";
import { startTimer } from "../../../util/abort/timer.js";

/** A source of durations and delays. */
export type QueueClock = Pick<Clock, "monotonicMs" | "sleep">;

/** Calls `fn` after `ms` milliseconds of the clock. Returns a function that stops the timer. */
export function startClockTimer(clock: QueueClock, ms: number, fn: () => void): () => void {
  if (clock.sleep === undefined) return startTimer(Math.max(0, ms), fn);
  const stopped = new AbortController();
  clock.sleep(Math.max(0, ms), stopped.signal).then(fn, () => undefined); // rejects when stopped
  return () => stopped.abort();
}
