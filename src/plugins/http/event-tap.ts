import type { EnsembleEvent } from "../../contracts/events.js";

type TappedEvent = IteratorResult<EnsembleEvent, unknown>;

/**
 * The events of a run for one reader. The arrival of the first event can be awaited before it is
 * read. Tracks the tool calls that need approval.
 */
export class EventTap implements AsyncIterableIterator<EnsembleEvent> {
  readonly #events: AsyncIterator<EnsembleEvent, unknown>;
  #first: Promise<TappedEvent> | undefined;
  #latest: Promise<TappedEvent> | undefined;
  /** Ids of the reviews of tool calls so far, and whether each is answered. */
  readonly #approvals = new Map<string, boolean>();

  constructor(events: AsyncIterable<EnsembleEvent>) {
    this.#events = events[Symbol.asyncIterator]();
  }

  /** Resolves with `true` if there is an event, without reading it. Rejects like `next()`. */
  async hasFirst(): Promise<boolean> {
    this.#first ??= this.#events.next();
    return (await this.#first).done !== true;
  }

  /** Returns whether the run has requested this review of one of its tool calls. */
  asked(reviewId: string): boolean {
    return this.#approvals.has(reviewId);
  }

  /** Returns whether one of these reviews has no answer yet. */
  awaits(reviewIds: readonly string[]): boolean {
    return reviewIds.some((id) => this.#approvals.get(id) === false);
  }

  /** Resolves when the last requested event has arrived. */
  async arrival(): Promise<void> {
    await this.#latest?.catch(() => undefined);
  }

  next(): Promise<IteratorResult<EnsembleEvent, undefined>> {
    const next = this.#first ?? this.#events.next();
    this.#first = undefined;
    this.#latest = next;
    return next.then((result) => this.#noted(result));
  }

  async return(): Promise<IteratorResult<EnsembleEvent, undefined>> {
    await this.#events.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #noted(result: TappedEvent): IteratorResult<EnsembleEvent, undefined> {
    if (result.done === true) return { done: true, value: undefined };
    const { value: event } = result;
    if (event.type === "review_requested" && event.callId !== undefined)
      this.#approvals.set(event.reviewId, false);
    if (event.type === "review_resolved" && this.#approvals.has(event.reviewId))
      this.#approvals.set(event.reviewId, true);
    return { done: false, value: event };
  }
}
