import type {
  ReviewDecision,
  ReviewRequest,
  ReviewResolution,
  ReviewStore,
  StoredReview,
} from "../../../../contracts/review.js";
import type { SqlRow, SqlValue } from "../../../shared/sql/sql-database.js";
import type { SqlSession } from "../../../shared/sql/sql-session.js";
import { asReviewDecision } from "../../../../contracts/review.js";
import { ReviewError } from "../../../../contracts/state-errors.js";
import { jsonOf } from "../../../shared/json-data.js";
import { ReviewListeners } from "../../../shared/review-listeners.js";
import { ReviewWatch } from "./review-watch.js";
import { reviewStatements, type ReviewStatements } from "./review-statements.js";
import { reviewFrom } from "./rows.js";
import { toColumn } from "../../../shared/sql/sql-text.js";

/** The reviews of a journal in PostgreSQL, for all processes that use the database. */
export class SqlReviews implements ReviewStore {
  readonly #session: SqlSession;
  readonly #store: string;
  readonly #statements: ReviewStatements;
  readonly #listeners = new ReviewListeners();
  readonly #watch: ReviewWatch;
  /** Reviews of runs of this process that still wait. */
  readonly #asked = new Set<string>();

  /** The caller has checked `schema`. `store` is the URL without the password. */
  constructor(session: SqlSession, schema: string, store: string) {
    this.#session = session;
    this.#store = store;
    this.#statements = reviewStatements(schema);
    this.#watch = new ReviewWatch(session, this.#statements, {
      channel: `${schema}_reviews`,
      onReview: (review) => this.#listeners.notify(review),
    });
  }

  async ask(request: Omit<ReviewRequest, "signal">): Promise<StoredReview> {
    const { reviewId, runId, deadline } = request;
    // A caller may pass the complete request.
    const { signal: _, ...data } = request as ReviewRequest;
    const values = [toColumn(reviewId), toColumn(runId), jsonOf("A review", data)];
    if (this.#asked.has(reviewId))
      throw new ReviewError(`Review '${reviewId}' is waiting already`, {
        hint: "Two runs at once can't have the same runId where people are asked.",
      });
    this.#asked.add(reviewId);
    try {
      const until = deadline === undefined ? "" : String(Date.parse(deadline) / 1_000);
      await this.#query(this.#statements.ask, [...values, until]);
      const review = await this.#find(reviewId);
      if (review === undefined) throw new ReviewError(`Review '${reviewId}' was deleted`);
      if (review.decision === undefined) this.#watch.noteAsked(review);
      else this.#asked.delete(reviewId);
      return review;
    } catch (error) {
      this.#asked.delete(reviewId);
      throw error;
    }
  }

  async pending(): Promise<readonly StoredReview[]> {
    await this.#watch.begun();
    return (await this.#query(this.#statements.pending, [])).map(reviewFrom);
  }

  async resolve(reviewId: string, decision: ReviewDecision): Promise<ReviewResolution> {
    const text = JSON.stringify(asReviewDecision(decision));
    const held = await this.#query(this.#statements.resolve, [toColumn(reviewId), text]);
    const review = await this.#find(reviewId);
    if (review === undefined) return { outcome: "unknown" };
    this.#watch.look();
    if (held.length > 0) return { outcome: "resolved", review };
    return { outcome: review.decision === undefined ? "over" : "decided", review };
  }

  async waitFor(reviewId: string, signal: AbortSignal): Promise<ReviewDecision> {
    try {
      signal.throwIfAborted();
      this.#session.requireOpen();
      return await this.#watch.decision(reviewId, signal);
    } finally {
      this.#asked.delete(reviewId);
    }
  }

  onRequest(fn: (review: StoredReview) => unknown): () => void {
    const remove = this.#listeners.add(fn);
    this.#watch.listen(true);
    return () => {
      remove();
      if (this.#listeners.size === 0) this.#watch.listen(false);
    };
  }

  isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  howToAnswer(reviewId: string): string {
    return `agentensemble reviews answer ${reviewId} continue --store ${this.#store}`;
  }

  /** Called when reviews may have changed. */
  look(): void {
    this.#watch.look();
  }

  /** Ends all waits. */
  async close(): Promise<void> {
    await this.#watch.close();
  }

  async #find(reviewId: string): Promise<StoredReview | undefined> {
    const [row] = await this.#query(this.#statements.find, [[toColumn(reviewId)]]);
    return row === undefined ? undefined : reviewFrom(row);
  }

  #query(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return this.#session.query(text, values);
  }
}
