import { join } from "node:path";
import type { KeptRun } from "../../../../contracts/journal.js";
import { JournalError, RunInUseError } from "../../../../contracts/journal-errors.js";
import { sleep } from "../../../../util/abort/timeouts.js";
import { messageOf } from "../../../../util/errors.js";
import type { FileLock } from "../../../../util/files/file-lock.js";
import { fileNameOfId } from "../../../../util/files/id-file-name.js";
import { emitProcessWarning } from "../../../../util/process-warning.js";
import { systemClock } from "../../../../util/runtime.js";
import { readCancelReason } from "./cancel-request.js";
import { runFilesIn } from "./run-compaction.js";
import { RunLocks } from "./run-locks.js";
import { readRunState, recordOf, type RunState } from "./run-record.js";

/** Number of files that are read concurrently for a list of runs. */
const LISTED_AT_ONCE = 16;
/** Maximum wait, in milliseconds, for a process that changes a run without executing it. */
const CHANGE_MS = 2_000;
const CHANGE_POLL_MS = 10;

/** Options for locking. */
export interface TakeOptions {
  /** Lease of the claim of the lock. */
  readonly leaseMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A folder of runs: their paths, owners and states. */
export class RunFolder {
  readonly locks = new RunLocks();
  readonly path: string;
  /** Files that were reported as unreadable. */
  readonly #reported = new Set<string>();

  constructor(path: string) {
    this.path = path;
  }

  pathOf(runId: string): string {
    return join(this.path, fileNameOfId(runId, ".jsonl", "run"));
  }

  /**
   * Returns the state of a run. Returns `undefined` if there is none.
   * @throws JournalError for an invalid file or the file of another run.
   */
  async stateOf(runId: string): Promise<RunState | undefined> {
    const path = this.pathOf(runId);
    const state = await readRunState(path);
    if (state !== undefined && state.head.start.runId !== runId)
      throw new JournalError(`${path} is the file of another run`, {
        hint: "Let no other program change the folder.",
      });
    return state;
  }

  /**
   * Locks a run.
   * @throws RunInUseError while a process executes the run; the reason of the signal; errors of the
   * file system.
   */
  async take(runId: string, o: TakeOptions = {}): Promise<FileLock> {
    const path = this.pathOf(runId);
    const until = systemClock.monotonicMs() + CHANGE_MS;
    for (;;) {
      const before = await this.stateOf(runId);
      const lock = await this.locks.take(path, { ...o, heldMs: before?.claim?.leaseMs });
      if (lock !== undefined) return lock;
      const { claim } = (await this.stateOf(runId)) ?? {};
      if (claim !== undefined) throw new RunInUseError(runId, claim.owner);
      if (systemClock.monotonicMs() > until) throw new RunInUseError(runId, "another process");
      await sleep(CHANGE_POLL_MS, o.signal);
    }
  }

  async recordOf(runId: string): Promise<KeptRun | undefined> {
    const state = await this.stateOf(runId);
    return state === undefined ? undefined : this.#shown(this.pathOf(runId), state);
  }

  /**
   * Returns all runs. Omits a run whose file can't be read. A process warning names the file once.
   */
  async records(): Promise<readonly KeptRun[]> {
    const names = [...(await runFilesIn(this.path))];
    const records: KeptRun[] = [];
    while (names.length > 0) {
      const some = names.splice(-LISTED_AT_ONCE).map((name) => this.#recordAt(name));
      for (const record of await Promise.all(some)) if (record !== undefined) records.push(record);
    }
    return records;
  }

  async #recordAt(name: string): Promise<KeptRun | undefined> {
    const path = join(this.path, name);
    try {
      const state = await readRunState(path);
      return state === undefined ? undefined : await this.#shown(path, state);
    } catch (error) {
      if (!this.#reported.has(path))
        emitProcessWarning(`A run is left out of the list: ${messageOf(error)}`);
      this.#reported.add(path);
      return undefined;
    }
  }

  async #shown(path: string, state: RunState): Promise<KeptRun> {
    const record = recordOf(state);
    const { claim } = state;
    const cancelReason = await readCancelReason(path);
    const isOwned = claim !== undefined && (await this.locks.isHeld(path));
    return Object.freeze({
      ...record,
      ...(isOwned && { owner: claim.owner }),
      ...(cancelReason !== undefined && { cancelReason }),
    });
  }
}
