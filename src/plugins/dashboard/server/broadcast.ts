import type { Board } from "../board.js";
import type { RunLog } from "../feed/run-log.js";
import type { ReviewsFrame, RunsFrame } from "../protocol/messages.js";
import type { BoardLimits } from "./limits.js";
import type { ClientSurroundings, PageClient } from "./page-client.js";
import { EntryFrames } from "./entry-frames.js";

/** Sends changes to all pages. Does nothing without a connected page. */
export class Broadcast implements ClientSurroundings {
  readonly board: Board;
  readonly limits: BoardLimits;
  readonly frames: EntryFrames;
  readonly onError: (error: unknown) => void;
  readonly #clients = new Set<PageClient>();
  readonly #changedLogs = new Set<RunLog>();
  readonly #changedRuns = new Set<string>();
  /** Runs that were removed from all stores. */
  readonly #deletedRuns = new Set<string>();
  #reviewsText = "";
  #flushTimer: NodeJS.Timeout | undefined;
  #runsTimer: NodeJS.Timeout | undefined;
  #runsAtMs = Number.NEGATIVE_INFINITY;
  #reviewsCheck: Promise<void> | undefined;
  #reviewsChanged = false;
  #stopListening: (() => void) | undefined;
  #stopReviews: (() => void) | undefined;

  constructor(
    board: Board,
    o: { readonly limits: BoardLimits; readonly onError: (error: unknown) => void },
  ) {
    this.board = board;
    this.limits = o.limits;
    this.onError = o.onError;
    this.frames = new EntryFrames(o.limits.frameBytes);
  }

  add(client: PageClient): void {
    this.#clients.add(client);
    this.#stopReviews ??= this.board.desk.onChange(() => this.checkReviews());
    this.#stopListening ??= this.board.feed.listen({
      onEntry: (log) => {
        this.#changedRuns.add(log.runId);
        this.#changed(log);
      },
      onToken: (log) => this.#changed(log),
      onRemoved: (log) => this.#changedRun(log.runId),
      onMarked: (log) => this.#changedRun(log.runId),
      onDeleted: (runId) => {
        this.#deletedRuns.add(runId);
        this.#changedRun(runId);
      },
    });
  }

  remove(client: PageClient): void {
    this.#clients.delete(client);
    if (this.#clients.size === 0) this.close();
  }

  close(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#stopReviews?.();
    this.#stopReviews = undefined;
    clearTimeout(this.#flushTimer);
    clearTimeout(this.#runsTimer);
    this.#flushTimer = undefined;
    this.#runsTimer = undefined;
    this.#changedLogs.clear();
    this.#changedRuns.clear();
    this.#deletedRuns.clear();
    this.#reviewsText = "";
  }

  runsFrame(runIds: Iterable<string>): Uint8Array {
    const { feed, settings } = this.board;
    const ids = [...runIds];
    const isGone = (runId: string): boolean =>
      feed.get(runId) === undefined &&
      (settings.store === undefined || this.#deletedRuns.has(runId));
    const frame: RunsFrame = {
      type: "runs",
      upsert: ids.flatMap((runId) => feed.get(runId)?.summary ?? []),
      removed: ids.filter(isGone),
      conversations: this.board.conversations,
      services: this.board.services.length,
    };
    return Buffer.from(JSON.stringify(frame));
  }

  async reviewsFrame(): Promise<Uint8Array> {
    return Buffer.from(await this.#readReviews());
  }

  /** Called periodically, because other processes may have added reviews. */
  beat(): void {
    // Frames of pages that connected between two flushes.
    this.frames.clear();
    this.checkReviews();
  }

  /** Reads the reviews, and sends them to all pages after a change. */
  checkReviews(): void {
    if (this.#clients.size === 0) return;
    this.#reviewsChanged = true;
    this.#reviewsCheck ??= this.#sendReviews()
      .catch(this.onError)
      .finally(() => (this.#reviewsCheck = undefined));
  }

  async #sendReviews(): Promise<void> {
    while (this.#reviewsChanged) {
      this.#reviewsChanged = false;
      const text = await this.#readReviews();
      if (text === this.#reviewsText) continue;
      this.#reviewsText = text;
      const bytes = Buffer.from(text);
      for (const client of this.#clients) client.sendReviews(bytes);
    }
  }

  async #readReviews(): Promise<string> {
    const { desk } = this.board;
    const pending = await desk.pending();
    const frame: ReviewsFrame = { type: "reviews", pending, answered: desk.answered };
    return JSON.stringify(frame);
  }

  #changedRun(runId: string): void {
    this.#changedRuns.add(runId);
    this.#scheduleRuns();
  }

  #changed(log: RunLog): void {
    this.#changedLogs.add(log);
    this.#flushTimer ??= setTimeout(() => this.#flush(), this.limits.flushMs);
  }

  #flush(): void {
    this.#flushTimer = undefined;
    const logs = [...this.#changedLogs];
    this.#changedLogs.clear();
    for (const log of logs) for (const client of this.#clients) client.flush(log);
    this.frames.clear();
    if (this.#changedRuns.size > 0) this.#scheduleRuns();
  }

  /** Sends summaries with a minimum interval. The first summary is sent at once. */
  #scheduleRuns(): void {
    if (this.#runsTimer !== undefined) return;
    const since = this.board.clock.monotonicMs() - this.#runsAtMs;
    const wait = Math.max(0, this.limits.summariesMs - since);
    if (wait === 0) this.#sendRuns();
    else this.#runsTimer = setTimeout(() => this.#sendRuns(), wait);
  }

  #sendRuns(): void {
    this.#runsTimer = undefined;
    this.#runsAtMs = this.board.clock.monotonicMs();
    const ids = [...this.#changedRuns];
    this.#changedRuns.clear();
    if (ids.length === 0) return;
    const bytes = this.runsFrame(ids);
    for (const client of this.#clients) client.sendRuns(bytes, ids);
  }
}
