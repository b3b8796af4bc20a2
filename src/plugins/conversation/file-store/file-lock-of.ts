import type { ThreadLockOptions } from "../../../contracts/conversation.js";
import { ThreadBusyError } from "../../../contracts/conversation-errors.js";
import { sleep } from "../../../util/abort/timeouts.js";
import { FileInUseError, FileLock } from "../../../util/files/file-lock.js";
import { systemClock } from "../../../util/runtime.js";

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/**
 * Waits for the lock of a file, which other processes may hold.
 * @throws ThreadBusyError; the reason of the signal.
 */
export async function fileLockOf(
  path: string,
  threadId: string,
  { timeoutMs, signal }: ThreadLockOptions,
): Promise<FileLock> {
  const until = systemClock.monotonicMs() + timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    signal.throwIfAborted();
    try {
      return await FileLock.acquire(`${path}.lock`);
    } catch (error) {
      if (!(error instanceof FileInUseError)) throw error;
      if (systemClock.monotonicMs() + pauseMs > until)
        throw new ThreadBusyError(threadId, timeoutMs, { cause: error });
    }
    await sleep(pauseMs, signal);
  }
}
