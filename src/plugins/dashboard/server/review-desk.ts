import type { Ev } from "../../../contracts/events.js";
import type { Redactor } from "../../../contracts/redaction.js";
import type { ReviewStore, StoredReview } from "../../../contracts/review.js";
import type { AnsweredReview } from "../protocol/messages.js";
import { createRedactor } from "../../../util/redaction/redactor.js";

const KEPT_ANSWERED = 100;
const KEPT_KNOWN = 1_000;

/** A review and its store. */
interface KnownReview {
  readonly review: StoredReview;
  readonly store: ReviewStore;
}

/** The reviews of another process. */
export interface OtherReviews {
  readonly pending: readonly StoredReview[];
  readonly answered: readonly AnsweredReview[];
}

/**
 * Collects the reviews of all attached kernels. Their stores decide. This object records questions
 * and answers.
 */
export class ReviewDesk {
  readonly #contents: boolean;
  readonly #stores = new Map<ReviewStore, { uses: number; readonly stop: () => void }>();
  readonly #known = new Map<string, KnownReview>();
  readonly #answered = new Map<string, AnsweredReview>();
  readonly #redactors = new Map<string, Redactor>();
  readonly #listeners = new Set<(review: StoredReview) => void>();
  readonly #observers = new Set<() => void>();
  /** The reviews of other processes. */
  readonly #others = new Map<object, OtherReviews>();

  constructor(contents: boolean) {
    this.#contents = contents;
  }

  /** The last 100 reviews with an answer, newest first. */
  get answered(): readonly AnsweredReview[] {
    const own = [...this.#answered.values()].reverse();
    if (this.#others.size === 0) return own;
    return [...own, ...[...this.#others.values()].flatMap(({ answered }) => answered)]
      .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
      .slice(0, KEPT_ANSWERED);
  }

  /** Replaces the reviews of another process. With `undefined`, none of them waits any more. */
  takeFrom(process: object, reviews: OtherReviews | undefined): void {
    const before = this.#others.get(process);
    const known = new Set(before?.pending.map(({ reviewId }) => reviewId));
    this.#others.delete(process);
    if (reviews !== undefined || before !== undefined)
      this.#others.set(process, reviews ?? { pending: [], answered: before?.answered ?? [] });
    for (const review of reviews?.pending ?? [])
      if (!known.has(review.reviewId)) for (const listener of this.#listeners) listener(review);
    this.#changed();
  }

  /** Subscribes to a store. Returns a function that ends the subscription. */
  watch(store: ReviewStore): () => void {
    const watched = this.#stores.get(store) ?? {
      uses: 0,
      stop: store.onRequest((review) => this.#asked(review, store)),
    };
    watched.uses++;
    this.#stores.set(store, watched);
    return () => {
      if (--watched.uses > 0) return;
      watched.stop();
      this.#stores.delete(store);
      this.#changed();
    };
  }

  /**
   * Calls `fn` with each new review in the form of its store. Returns a function that removes the
   * callback.
   */
  listen(fn: (review: StoredReview) => void): () => void {
    const listener = (review: StoredReview): void => fn(review);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls `fn` after each change. Returns a function that removes the callback. */
  onChange(fn: () => void): () => void {
    const observer = (): void => fn();
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  /** Handles an event of a run. */
  observe(event: Ev<"review_requested"> | Ev<"review_resolved">, redactor: Redactor): void {
    const { reviewId } = event;
    if (event.type === "review_requested") {
      this.#redactors.set(reviewId, redactor);
      forgetOldest(this.#redactors, KEPT_KNOWN);
    } else {
      const { runId, taskId, decision, timedOut, by, comment, at } = event;
      this.#redactors.delete(reviewId);
      this.#answered.delete(reviewId);
      this.#answered.set(reviewId, {
        reviewId,
        runId,
        taskId,
        decision,
        timedOut,
        at,
        ...(by !== undefined && { by: redactor.redactText(by) }),
        ...(comment !== undefined && this.#contents && { comment: redactor.redactText(comment) }),
      });
      forgetOldest(this.#answered, KEPT_ANSWERED);
    }
    this.#changed();
  }

  /** Returns all waiting reviews in their shown form, oldest first. */
  async pending(): Promise<readonly StoredReview[]> {
    const own = (await this.#pending()).map(({ review }) => review);
    const others = [...this.#others.values()].flatMap(({ pending }) => pending);
    return reviewsByTime([...own, ...others]).map((review) => this.#shown(review));
  }

  /** Returns a review that waits or has waited, with its store. */
  async find(reviewId: string): Promise<KnownReview | undefined> {
    const waiting = (await this.#pending()).find(({ review }) => review.reviewId === reviewId);
    return waiting ?? this.#known.get(reviewId);
  }

  /** Returns the answer of a review that a run has reported. */
  answerOf(reviewId: string): AnsweredReview | undefined {
    return this.#answered.get(reviewId);
  }

  #changed(): void {
    for (const observer of this.#observers) observer();
  }

  async #pending(): Promise<readonly KnownReview[]> {
    const lists = await Promise.all(
      [...this.#stores.keys()].map(async (store) =>
        (await store.pending()).map((review) => ({ review, store })),
      ),
    );
    return lists.flat();
  }

  #asked(review: StoredReview, store: ReviewStore): void {
    this.#known.delete(review.reviewId);
    this.#known.set(review.reviewId, { review, store });
    forgetOldest(this.#known, KEPT_KNOWN);
    for (const listener of this.#listeners) listener(review);
    this.#changed();
  }

  /** Returns a redacted review. It has no texts if contents are not shown. */
  #shown(review: StoredReview): StoredReview {
    const redactor = this.#redactors.get(review.reviewId) ?? createRedactor();
    if (!this.#contents) {
      const { prompt: _prompt, input: _input, editSchema: _schema, ...rest } = review;
      return { ...rest, taskDescription: "", taskOutput: "", truncated: true };
    }
    const { taskDescription, taskOutput, prompt, input } = review;
    return {
      ...review,
      taskDescription: redactor.redactText(taskDescription),
      taskOutput: redactor.redactText(taskOutput),
      ...(prompt !== undefined && { prompt: redactor.redactText(prompt) }),
      ...(input !== undefined && { input: redactor.redactValue(input) }),
    };
  }
}

function reviewsByTime(reviews: readonly StoredReview[]): readonly StoredReview[] {
  return reviews.toSorted((a, b) => Date.parse(a.requestedAt) - Date.parse(b.requestedAt));
}

function forgetOldest(map: Map<string, unknown>, most: number): void {
  if (map.size <= most) return;
  for (const oldest of map.keys()) return void map.delete(oldest);
}
