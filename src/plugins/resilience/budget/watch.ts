import type { Clock } from "../../../contracts/runtime.js";
import type { CallQueue } from "./queue.js";
import { sleep } from "../../../util/abort/timeouts.js";
import { advance } from "./queue.js";

/** Interval between reads of the reservations of others, by the clock of the run. */
const LOOK_MS = 250;

/** A queue whose calls also wait for other processes. */
interface WatchedQueue extends CallQueue {
  readonly clock: Clock;
  refresh(signal: AbortSignal): Promise<void>;
}

/**
 * Reads the state of a shared account repeatedly, so that its calls can decide again, until the
 * signal ends that. Never rejects.
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
