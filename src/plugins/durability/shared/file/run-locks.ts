import { FileInUseError, FileLock } from "../../../../util/files/file-lock.js";
import { thisProcess, type LockHolder } from "../../../../util/files/lock-holder.js";
import { isLockHeld } from "../../../../util/files/lock-state.js";
import { settleWithin } from "../../../../util/abort/timeouts.js";

/** Longest interval of heartbeats. There are several within each lease. */
const LONGEST_BEAT_MS = 2_000;
const BEATS = 5;
/** The default lease of a holder, in milliseconds. */
const LEASE_MS = 12_000;

/** Takes and checks the locks of runs. */
export class RunLocks {
  #me: Promise<LockHolder> | undefined;

  /** See `ClaimLine.space`. */
  async space(): Promise<string> {
    const { boot, space, host } = await this.#thisProcess();
    return boot === undefined ? host : `${boot} ${space ?? ""}`;
  }

  /**
   * Locks a file. If the process of the holder can't be looked up, waits for its lease, `heldMs`.
   * `leaseMs` is the lease of the new holder. Returns `undefined` if another process holds the
   * lock.
   * @throws the reason of the signal; errors of the file system.
   */
  async take(
    path: string,
    o: {
      readonly leaseMs?: number | undefined;
      readonly heldMs?: number | undefined;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<FileLock | undefined> {
    const { leaseMs = LEASE_MS, heldMs = LEASE_MS, signal } = o;
    const timing = {
      heartbeatMs: Math.max(1, Math.min(LONGEST_BEAT_MS, Math.floor(leaseMs / BEATS))),
      patienceMs: heldMs,
    };
    const taking = FileLock.acquire(lockPathOf(path), timing);
    try {
      return await settleWithin(taking, signal);
    } catch (error) {
      if (signal?.aborted === true) {
        // The caller no longer waits.
        void taking.then((lock) => lock.release()).catch(() => undefined);
        throw signal.reason;
      }
      if (error instanceof FileInUseError) return undefined;
      throw error;
    }
  }

  /**
   * Returns whether a process holds the lock, as far as this is known without a wait. A holder on
   * another host counts as alive.
   */
  async isHeld(path: string): Promise<boolean> {
    return isLockHeld(lockPathOf(path), { me: await this.#thisProcess() });
  }

  #thisProcess(): Promise<LockHolder> {
    this.#me ??= thisProcess();
    return this.#me;
  }
}

function lockPathOf(path: string): string {
  return `${path}.lock`;
}
