import type { ReviewDecision, StoredReview } from "../../../../contracts/review.js";
import type { ReviewStatements } from "./review-statements.js";
import type { SqlSession } from "../../../shared/sql/sql-session.js";
import { JournalError } from "../../../../contracts/journal-errors.js";
import { ReviewError } from "../../../../contracts/state-errors.js";
import { messageOf } from "../../../../util/errors.js";
import { emitProcessWarning } from "../../../../util/process-warning.js";
import { reviewFrom } from "./rows.js";
import { fromColumn, toColumn } from "../../../shared/sql/sql-text.js";

/** Interval in milliseconds of queries that find changes without a notification. */
const POLL_MS = 1_000;

interface WaitingDecision {
  resolve(decision: ReviewDecision): void;
  reject(error: unknown): void;
}

export interface ReviewWatchOptions {
  /** The channel on which the database notifies of changes. */
  readonly channel: string;
  /** Called with each new review of any process. */
  readonly onReview: (review: StoredReview) => void;
}

/**
 * Detects decisions and new reviews of all processes, by notifications of the database and by a
 * query each second. Does not query if no run waits and there is no listener. Only waiting runs
 * keep the process alive.
 */
export class ReviewWatch {
  readonly #session: SqlSession;
  readonly #statements: ReviewStatements;
  readonly #options: ReviewWatchOptions;
  readonly #waiting = new Map<string, Set<WaitingDecision>>();
  /**
   * The known open reviews. The value is `false` for reviews that are older than the listeners. It
   * is `true` for reviews that were reported to them. `undefined` without listeners.
   */
  #known: Map<string, boolean> | undefined;
  /** Resolves when `#known` has the older reviews. */
  #beginning: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #isOutdated = false;
  #timer: NodeJS.Timeout | undefined;
  #stopListening: Promise<(() => Promise<void>) | void> | undefined;
  #isClosed = false;
  #hasWarned = false;

  constructor(session: SqlSession, statements: ReviewStatements, options: ReviewWatchOptions) {
    this.#session = session;
    this.#statements = statements;
    this.#options = options;
  }

  /**
   * @throws the reason of the signal; ReviewError for an unknown review; JournalError when the
   * journal is closed.
   */
  decision(reviewId: string, signal: AbortSignal): Promise<ReviewDecision> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(reviewId) ?? new Set();
      const end = (): void => {
        signal.removeEventListener("abort", onAbort);
        waiting.delete(one);
        if (waiting.size === 0) this.#waiting.delete(reviewId);
        this.#rest();
      };
      const onAbort = (): void => one.reject(signal.reason);
      const one: WaitingDecision = {
        resolve: (decision) => {
          end();
          resolve(decision);
        },
        reject: (error) => {
          end();
          reject(error); // the reason of a signal may be anything
        },
      };
      this.#waiting.set(reviewId, waiting.add(one));
      signal.addEventListener("abort", onAbort, { once: true });
      this.look();
    });
  }

  /** Sets whether there are listeners for new reviews. */
  listen(on: boolean): void {
    if (on === (this.#known !== undefined)) return;
    this.#known = on ? new Map<string, boolean>() : undefined;
    this.#beginning = on ? this.#begin() : undefined;
    this.#rest();
  }

  /**
   * Resolves when each later review is either older than the listeners, or will be reported to
   * them.
   */
  async begun(): Promise<void> {
    await this.#beginning;
  }

  /** Reports a review of this process, once. */
  noteAsked(review: StoredReview): void {
    if (this.#known?.get(review.reviewId) === false) this.#known.delete(review.reviewId);
    this.#report(review);
  }

  /** Queries the database now. */
  look(): void {
    this.#isOutdated = true;
    if (this.#looking === undefined && !this.#isIdle()) this.#looking = this.#lookAgain();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const closed = new JournalError(`${this.#session.name}: the journal is closed`);
    for (const waiting of [...this.#waiting.values()])
      for (const one of [...waiting]) one.reject(closed);
    await this.#looking;
    await (
      await this.#stopListening
    )?.();
  }

  /** Marks the currently open reviews as older than the listeners. */
  async #begin(): Promise<void> {
    const known = this.#known;
    try {
      for (const id of await this.#openIds()) known?.set(id, false);
    } catch (error) {
      this.#warn(error); // reviews found later are reported
    }
    if (this.#known === known) this.#beginning = undefined;
    this.look();
  }

  async #lookAgain(): Promise<void> {
    while (this.#isOutdated && !this.#isIdle()) {
      this.#isOutdated = false;
      try {
        this.#connect();
        await this.#findDecisions();
        await this.#findReviews();
        this.#hasWarned = false;
      } catch (error) {
        this.#warn(error);
      }
    }
    this.#looking = undefined;
    this.#rest();
  }

  async #findDecisions(): Promise<void> {
    const ids = [...this.#waiting.keys()];
    if (ids.length === 0) return;
    const rows = await this.#session.query(this.#statements.find, [ids.map(toColumn)]);
    const found = new Map(rows.map(reviewFrom).map((review) => [review.reviewId, review]));
    for (const id of ids) {
      const review = found.get(id);
      for (const one of [...(this.#waiting.get(id) ?? [])])
        if (review === undefined) one.reject(new ReviewError(`There is no review '${id}'`));
        else if (review.decision !== undefined) one.resolve(review.decision);
    }
  }

  async #findReviews(): Promise<void> {
    const known = this.#known;
    if (known === undefined || this.#beginning !== undefined) return;
    const before = [...known.keys()]; // reviews that are reported later need not be found
    const open = new Set(await this.#openIds());
    for (const id of before) if (!open.has(id)) known.delete(id);
    const fresh = [...open].filter((id) => !known.has(id));
    if (fresh.length === 0) return;
    const rows = await this.#session.query(this.#statements.find, [fresh.map(toColumn)]);
    for (const review of rows.map(reviewFrom)) this.#report(review);
  }

  #report(review: StoredReview): void {
    if (this.#known === undefined || this.#known.has(review.reviewId)) return;
    this.#known.set(review.reviewId, true);
    this.#options.onReview(review);
  }

  async #openIds(): Promise<readonly string[]> {
    const rows = await this.#session.query(this.#statements.pendingIds, []);
    return rows.map((row) => fromColumn(row["review_id"] ?? ""));
  }

  #isIdle(): boolean {
    return this.#isClosed || (this.#waiting.size === 0 && this.#known === undefined);
  }

  /** Schedules the next query while there is a waiting run or a listener. */
  #rest(): void {
    clearTimeout(this.#timer);
    if (this.#isIdle() || this.#looking !== undefined) return;
    this.#timer = setTimeout(() => this.look(), POLL_MS);
    if (this.#waiting.size === 0) this.#timer.unref();
  }

  /**
   * Listens to the database on a separate connection. A later query replaces a broken connection.
   */
  #connect(): void {
    if (this.#stopListening !== undefined) return;
    const ended = (): void => {
      if (this.#stopListening === stopping && !this.#isClosed) this.#stopListening = undefined;
    };
    const stopping = this.#session
      .listen(this.#options.channel, () => this.look(), ended)
      ?.then((stop) => {
        this.look(); // finds changes that were made before the connection
        return stop;
      })
      .catch(() => void ended());
    this.#stopListening = stopping;
  }

  #warn(error: unknown): void {
    if (this.#hasWarned || this.#isClosed) return;
    this.#hasWarned = true;
    emitProcessWarning(`Reviews are looked for again and again: ${messageOf(error)}`);
  }
}
