import type { RunFeed } from "../feed/run-feed.js";
import type { RunLog } from "../feed/run-log.js";

/**
 * The sent position of each run. The logs in memory are the queue. A log that is removed from
 * memory before it was sent is kept, up to a total number of entries.
 */
export class WaitingRuns {
  readonly #feed: RunFeed;
  readonly #most: number;
  readonly #onLost: () => void;
  readonly #sent = new Map<RunLog, number>();
  readonly #removed = new Set<RunLog>();

  constructor(feed: RunFeed, most: number, onLost: () => void) {
    this.#feed = feed;
    this.#most = most;
    this.#onLost = onLost;
  }

  /** The runs with unsent entries, the oldest first. */
  get open(): readonly RunLog[] {
    return this.#known().filter((log) => this.isOpen(log));
  }

  isOpen(log: RunLog): boolean {
    return this.sentOf(log) < log.n;
  }

  /** Returns the number of the last sent entry. Returns -1 before the first. */
  sentOf(log: RunLog): number {
    return this.#sent.get(log) ?? -1;
  }

  sent(log: RunLog, n: number): void {
    this.#sent.set(log, n);
    if (n < log.n || !this.#removed.delete(log)) return;
    this.#sent.delete(log);
  }

  /**
   * Sets the positions that the board reports. A run that is unknown to the board is sent from its
   * first entry.
   */
  begin(known: Readonly<Record<string, unknown>>): void {
    for (const log of this.#known()) {
      const n = Object.hasOwn(known, log.runId) ? Number(known[log.runId]) : -1;
      this.sent(log, Math.max(-1, Math.min(Number.isSafeInteger(n) ? n : -1, log.n)));
    }
  }

  /** Called when a log is removed from memory. */
  removed(log: RunLog): void {
    if (!this.isOpen(log)) return void this.#sent.delete(log);
    this.#removed.add(log);
    let waiting = [...this.#removed].reduce((sum, one) => sum + one.n - this.sentOf(one), 0);
    for (const oldest of this.#removed) {
      if (waiting <= this.#most) return;
      waiting -= oldest.n - this.sentOf(oldest);
      this.#removed.delete(oldest);
      this.#sent.delete(oldest);
      this.#onLost();
    }
  }

  /** Returns a run of this process in memory, or a waiting run. */
  find(runId: string): RunLog | undefined {
    return this.#feed.get(runId) ?? [...this.#removed].find((log) => log.runId === runId);
  }

  #known(): readonly RunLog[] {
    const own = this.#feed.logs.filter(({ origin }) => origin === undefined).reverse();
    return [...this.#removed, ...own];
  }
}
