import type { RunStore } from "../../../contracts/run-store.js";
import type { Clock } from "../../../contracts/runtime.js";
import { firstEnding } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";
import { emitProcessWarning } from "../../../util/process-warning.js";
import type { RunFeed } from "./run-feed.js";
import type { RunLog } from "./run-log.js";

export interface StoreWriterOptions {
  readonly feed: RunFeed;
  readonly store: RunStore;
  readonly clock: Pick<Clock, "now">;
  /** Delay of a write in milliseconds, to collect entries. Default 250. */
  readonly delayMs?: number | undefined;
  /**
   * The first pause after a failure of the store in milliseconds. Each further failure doubles it,
   * up to 30 times. Default 1,000.
   */
  readonly retryMs?: number | undefined;
  /** Number of waiting entries above which texts are dropped. Default 20,000. */
  readonly maxWaiting?: number | undefined;
  /** Time limit of `flush` in milliseconds. Default 2,000. */
  readonly flushMs?: number | undefined;
  /** Time limit of `close` in milliseconds. Default 10,000. */
  readonly closeMs?: number | undefined;
}

/** A run whose write failed. */
interface FailedWrite {
  readonly log: RunLog;
  readonly error: unknown;
}

/** Number of entries in one write. */
const BATCH = 200;
const WARN_EVERY_MS = 60_000;
/** Number of failed runs after which the remaining runs are not tried before the next pause. */
const MAX_FAILED_RUNS = 3;

/**
 * Writes the runs of a feed to a store, in batches. Runs do not wait for the writes. If the store
 * fails, a run gets a warning, at most once a minute, and the first failure in a row causes a process
 * warning. Waiting entries are written later. Beyond
 * `maxWaiting` entries, they lose their texts. Beyond five times as many, ended runs are not
 * written, the one that waits longest first.
 */
export class StoreWriter {
  readonly #o: StoreWriterOptions;
  /** The number of the last written entry of each run that is not completely written. */
  readonly #open = new Map<RunLog, number>();
  readonly #written = new WeakMap<RunLog, number>();
  readonly #stop: () => void;
  readonly #maxWaiting: number;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> | undefined;
  #failures = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(o: StoreWriterOptions) {
    this.#o = o;
    this.#maxWaiting = o.maxWaiting ?? 20_000;
    this.#stop = o.feed.listen({
      onEntry: (log) => this.#add(log),
      onRemoved: (log) => this.#trim(log),
    });
  }

  /** Entries that are not written yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Writes the waiting entries, for at most `flushMs`. Does nothing during a pause after a failure.
   */
  async flush(): Promise<void> {
    if (this.#failures === 0 && this.#open.size > 0) this.#begin();
    if (this.#work !== undefined)
      await firstEnding(this.#work, { timeoutMs: this.#o.flushMs ?? 2_000 });
  }

  /**
   * Stops writing a run, and waits for the writes in progress. Returns false if that takes longer
   * than `closeMs`.
   */
  async forget(log: RunLog): Promise<boolean> {
    this.#forget(log);
    const { closeMs = 10_000 } = this.#o;
    if (this.#work === undefined) return true;
    return (await firstEnding(this.#work, { timeoutMs: closeMs })) !== "late";
  }

  /**
   * Writes the waiting entries, retries failed writes once, and stops. Entries that can't be
   * written within `closeMs` are lost, which causes a process warning.
   */
  async close(): Promise<void> {
    const { closeMs = 10_000 } = this.#o;
    this.#stop();
    clearTimeout(this.#timer);
    if ((await firstEnding(this.#writeRest(), { timeoutMs: closeMs })) === "late")
      emitProcessWarning(
        `dashboard: the store has not taken ${this.#waiting} entries of runs within ${closeMs} ms`,
      );
    clearTimeout(this.#timer);
    this.#open.clear();
    this.#waiting = 0;
  }

  async #writeRest(): Promise<void> {
    await this.#work;
    const failed = await this.#writeAll();
    if (failed === undefined) return;
    this.#warn(failed);
    emitProcessWarning(
      `dashboard: ${this.#waiting} entries of runs are lost, because the store failed: ${messageOf(failed.error)}`,
    );
  }

  #add(log: RunLog): void {
    if (!this.#open.has(log)) this.#open.set(log, this.#written.get(log) ?? -1);
    this.#waiting++;
    if (this.#waiting > this.#maxWaiting * 5) this.#drop();
    if (this.#work !== undefined || this.#failures > 0) return;
    if (this.#waiting >= BATCH) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), this.#o.delayMs ?? 250);
  }

  /** Removes texts when too many entries wait. Affects a run that is kept only for the store. */
  #trim(log: RunLog): void {
    if (this.#open.has(log) && this.#waiting > this.#maxWaiting) log.trim(log.n + 1);
  }

  /** Stops writing the ended run that waits longest. */
  #drop(): void {
    for (const log of this.#open.keys()) {
      if (!log.ended) continue;
      this.#forget(log);
      return;
    }
  }

  /** Stops writing a run. */
  #forget(log: RunLog): void {
    const written = this.#open.get(log);
    if (written === undefined) return;
    this.#open.delete(log);
    this.#waiting -= log.n - written;
    this.#written.set(log, log.n);
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#work ??= this.#writeAll()
      .then((failed) => {
        if (failed === undefined) this.#failures = 0;
        else this.#failed(failed);
      })
      .finally(() => {
        this.#work = undefined;
        if (this.#open.size > 0 && this.#failures === 0)
          this.#timer ??= setTimeout(() => this.#begin(), this.#o.delayMs ?? 250);
      });
  }

  /**
   * Writes all runs, until `MAX_FAILED_RUNS` have failed. Returns the first failure. A run that the
   * store refuses is written after the others and does not delay them.
   */
  async #writeAll(): Promise<FailedWrite | undefined> {
    const failed: FailedWrite[] = [];
    for (const log of [...this.#open.keys()]) {
      try {
        await this.#write(log);
      } catch (error) {
        const written = this.#open.get(log);
        this.#open.delete(log);
        if (written !== undefined) this.#open.set(log, written);
        if (failed.push({ log, error }) >= MAX_FAILED_RUNS) break;
      }
    }
    return failed[0];
  }

  async #write(log: RunLog): Promise<void> {
    const { store } = this.#o;
    for (let from = this.#next(log); from !== undefined; from = this.#next(log)) {
      const to = Math.min(log.n, from + BATCH - 1);
      const form = this.#waiting > this.#maxWaiting ? "slim" : "full";
      const entries = Array.from({ length: to - from + 1 }, (_, i) => log.entry(from + i, form));
      await store.append(log.runId, entries);
      // Entries without their summary count as not written.
      await store.put(log.summary);
      if (!this.#open.has(log)) return; // the run was dropped during the write
      this.#open.set(log, to);
      this.#written.set(log, to);
      this.#waiting -= entries.length;
    }
    this.#open.delete(log);
  }

  /** Returns the number of the first entry of a run that is not written. */
  #next(log: RunLog): number | undefined {
    const written = this.#open.get(log);
    return written === undefined || written >= log.n ? undefined : written + 1;
  }

  #failed(failed: FailedWrite): void {
    const { retryMs = 1_000 } = this.#o;
    if (this.#failures === 0)
      emitProcessWarning(`dashboard: the store of runs failed: ${messageOf(failed.error)}`);
    const wait = retryMs * Math.min(30, 2 ** this.#failures++);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#begin();
    }, wait);
    this.#timer.unref(); // a failed store does not keep the process alive
    this.#warn(failed);
  }

  #warn({ log, error }: FailedWrite): void {
    const now = this.#o.clock.now();
    if (now.getTime() - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = now.getTime();
    const message = `The store of the dashboard's runs failed: ${messageOf(error)}`;
    this.#o.feed.warn(log.runId, message, now.toISOString());
  }
}
