import type { Clock } from "../../../contracts/runtime.js";
import type { CallQueue } from "./queue.js";
import { sleep } from "../../../util/abort/timeouts.js";
import { advance } from "./queue.js";

/**
 * Interval in milliseconds between reads of the reservations of others, by the clock of the run.
 */
const LOOK_MS = 250;

/** A queue whose calls also wait for calls of other processes. */
interface WatchedQueue extends CallQueue {
  readonly clock: Clock;
  refresh(signal: AbortSignal): Promise<void>;
}

/**
 * Reads the state of a shared account repeatedly until the signal aborts. Its waiting calls decide
 * again after each read. Never rejects.
 */
export async function watch(queue: WatchedQueue, signal: AbortSignal): Promise<void> {
  const { clock } = queue;
  while (!signal.aborted) {
    try {
      await (clock.sleep === undefined ? sleep(LOOK_MS, signal) : clock.sleep(LOOK_MS, signal));
      await queue.refresh(signal);
    } catch (error) {
      if (signal.aborted) return;
      for (const waiting of queue.waiting) waiting.fail(error);
      return;
    }
    advance([queue]);
  }
}
