import type { LogEntry, RunSummary } from "../../../../contracts/run-store.js";
import type { Clock } from "../../../../contracts/runtime.js";
import { FileLock } from "../../../../util/files/file-lock.js";
import { asInterrupted, isRemovable } from "../run-states.js";
import { RunIndex } from "./run-index.js";
import type { RunFiles } from "./run-files.js";

/** Limits of the runs in a folder. */
export interface RetentionLimits {
  readonly maxRuns: number;
  readonly maxAgeMs: number;
}

/** The only process that writes to a folder of runs. */
export class FileRunWriter {
  readonly index: RunIndex;
  readonly #files: RunFiles;
  readonly #lock: FileLock;

  private constructor(index: RunIndex, files: RunFiles, lock: FileLock) {
    this.index = index;
    this.#files = files;
    this.#lock = lock;
    lock.owner = this;
  }

  /**
   * Locks an existing folder. Marks runs whose process has ended as interrupted. Creates summaries
   * for logs without one.
   * @throws FileInUseError while another process or object writes to the folder; errors of the file
   * system.
   */
  static async open(indexPath: string, files: RunFiles): Promise<FileRunWriter> {
    const lock = await FileLock.acquire(writerLockOf(indexPath));
    try {
      files.forget();
      const index = new RunIndex(indexPath);
      await index.refresh();
      const runs = [...index.runs.values(), ...(await files.summariesWithout(index.runs))];
      await index.rewrite(new Map(runs.map((run) => [run.runId, asInterrupted(run)])));
      return new FileRunWriter(index, files, lock);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /**
   * Returns whether this writer still holds the lock of the folder. See {@link FileLock.isHeld}.
   */
  isHeld(): Promise<boolean> {
    return this.#lock.isHeld();
  }

  async append(runId: string, entries: readonly LogEntry[]): Promise<void> {
    await this.#files.logOf(runId).append(entries);
  }

  async put(run: RunSummary): Promise<void> {
    await this.index.put(run);
  }

  async remove(runId: string): Promise<void> {
    await this.#files.remove(runId);
    await this.index.remove(runId);
  }

  /** Removes the runs beyond the limits, the oldest first. */
  async prune({ maxRuns, maxAgeMs }: RetentionLimits, clock: Pick<Clock, "now">): Promise<void> {
    const { runs } = this.index;
    if (runs.size <= maxRuns && !Number.isFinite(maxAgeMs)) return;
    const oldest = clock.now().getTime() - maxAgeMs;
    const isOld = ({ startedAt, endedAt = startedAt }: RunSummary): boolean =>
      Date.parse(endedAt) < oldest;
    const ended = [...runs.values()].filter(isRemovable);
    const gone = ended.filter(isOld);
    const over = runs.size - gone.length - maxRuns;
    const left = over > 0 ? ended.filter((run) => !isOld(run)).sort(byStart) : [];
    for (const { runId } of [...gone, ...left.slice(0, Math.max(0, over))])
      await this.remove(runId);
  }

  async close(): Promise<void> {
    await this.#lock.release();
  }
}

export function writerLockOf(indexPath: string): string {
  return `${indexPath}.lock`;
}

function byStart(a: RunSummary, b: RunSummary): number {
  return Date.parse(a.startedAt) - Date.parse(b.startedAt);
}
