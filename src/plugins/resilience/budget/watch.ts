import type { Clock } from "../../../contracts/runtime.js";
import type { CallQueue } from "./queue.js";
import { sleep } from "../../../util/abort/timeouts.js";
import { advance } from "./queue.js";

/** Between two looks at what others have reserved, by the run's clock. */
const LOOK_MS = 250;

/** A queue whose calls wait for other processes, too. */
interface WatchedQueue extends CallQueue {
  readonly clock: Clock;
  refresh(signal: AbortSignal): Promise<void>;
}

/** Reads the state of a shared account again and again, and lets its calls decide by it, until the signal ends that. Never rejects. */
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
