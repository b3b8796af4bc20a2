import type { RunStore } from "../../../contracts/run-store.js";
import type { Clock } from "../../../contracts/runtime.js";
import { messageOf } from "../../../util/errors.js";
import type { RunFeed } from "./run-feed.js";
import type { RunLog } from "./run-log.js";

export interface StoreWriterOptions {
  readonly feed: RunFeed;
  readonly store: RunStore;
  readonly clock: Pick<Clock, "now">;
  /** How long entries wait for others, in milliseconds. Default 250. */
  readonly delayMs?: number | undefined;
  /** How long a store that failed is left alone at first, in milliseconds; twice as long after each failure, up to 30 times. Default 1,000. */
  readonly retryMs?: number | undefined;
  /** Entries that wait before texts are dropped. Default 20,000. */
  readonly maxWaiting?: number | undefined;
}

/** Entries that are written at once. */
const BATCH = 200;
const WARN_EVERY_MS = 60_000;

/**
 * Writes the runs of a feed to a store, in batches. A run never waits for it. Where the store fails, its run is warned, once a minute, and what waits is
 * written later: beyond `maxWaiting` entries without their texts, and beyond five times as many the runs that ended first are not written at all.
 */
export class StoreWriter {
  readonly #o: StoreWriterOptions;
  /** The number of the last entry that was written, of each run that is not written wholly. */
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

  /** Writes what waits, once more where the store failed before, and ends. What cannot be written is lost. */
  async close(): Promise<void> {
    this.#stop();
    clearTimeout(this.#timer);
    await this.#work;
    await this.#writeAll().catch((e: unknown) => this.#warn(e));
    this.#open.clear();
    this.#waiting = 0;
  }

  #add(log: RunLog): void {
    if (!this.#open.has(log)) this.#open.set(log, this.#written.get(log) ?? -1);
    this.#waiting++;
    if (this.#waiting > this.#maxWaiting * 5) this.#drop();
    if (this.#work !== undefined || this.#failures > 0) return;
    if (this.#waiting >= BATCH) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), this.#o.delayMs ?? 250);
  }

  /** A run that is only kept for the store has no texts any more where too much waits. */
  #trim(log: RunLog): void {
    if (this.#open.has(log) && this.#waiting > this.#maxWaiting) log.trim(log.n + 1);
  }

  #drop(): void {
    for (const [log, written] of this.#open) {
      if (!log.ended) continue;
      this.#open.delete(log);
      this.#waiting -= log.n - written;
      this.#written.set(log, log.n);
      return;
    }
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#work ??= this.#writeAll()
      .then(() => {
        this.#failures = 0;
      })
      .catch((e: unknown) => this.#failed(e))
      .finally(() => {
        this.#work = undefined;
        if (this.#open.size > 0 && this.#failures === 0)
          this.#timer ??= setTimeout(() => this.#begin(), this.#o.delayMs ?? 250);
      });
  }

  async #writeAll(): Promise<void> {
    for (const [log] of this.#open) await this.#write(log);
  }

  async #write(log: RunLog): Promise<void> {
    const { store } = this.#o;
    for (let from = this.#next(log); from !== undefined; from = this.#next(log)) {
      const to = Math.min(log.n, from + BATCH - 1);
      const form = this.#waiting > this.#maxWaiting ? "slim" : "full";
      const entries = Array.from({ length: to - from + 1 }, (_, i) => log.entry(from + i, form));
      await store.append(log.runId, entries);
      if (!this.#open.has(log)) return; // dropped meanwhile
      this.#open.set(log, to);
      this.#written.set(log, to);
      this.#waiting -= entries.length;
      await store.put(log.summary);
    }
    this.#open.delete(log);
  }

  /** The first entry of a run that is not written. */
  #next(log: RunLog): number | undefined {
    const written = this.#open.get(log);
    return written === undefined || written >= log.n ? undefined : written + 1;
  }

  #failed(e: unknown): void {
    const { retryMs = 1_000 } = this.#o;
    const wait = retryMs * Math.min(30, 2 ** this.#failures++);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#begin();
    }, wait);
    this.#timer.unref(); // a store that is gone keeps no program alive
    this.#warn(e);
  }

  #warn(e: unknown): void {
    const now = this.#o.clock.now();
    if (now.getTime() - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = now.getTime();
    const [log] = this.#open.keys();
    if (log === undefined) return;
    const message = `The store of the dashboard's runs failed: ${messageOf(e)}`;
    this.#o.feed.warn(log.runId, message, now.toISOString());
  }
}
