import type { EnsembleEvent } from "../../contracts/events.js";

type NextEvent = IteratorResult<EnsembleEvent, unknown>;

/** The events of a run for one reader, with a look at the first one, and with the tool calls that people are asked about. */
export class EventTap implements AsyncIterableIterator<EnsembleEvent> {
  readonly #events: AsyncIterator<EnsembleEvent, unknown>;
  #first: Promise<NextEvent> | undefined;
  #latest: Promise<NextEvent> | undefined;
  /** Ids of the reviews of tool calls so far. */
  readonly approvals = new Set<string>();

  constructor(events: AsyncIterable<EnsembleEvent>) {
    this.#events = events[Symbol.asyncIterator]();
  }

  /** Resolves with whether there is an event, without taking it. Rejects as `next()` does. */
  async hasFirst(): Promise<boolean> {
    this.#first ??= this.#events.next();
    return (await this.#first).done !== true;
  }

  /** Resolves when what was asked for last has come. */
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

  #noted(result: NextEvent): IteratorResult<EnsembleEvent, undefined> {
    if (result.done === true) return { done: true, value: undefined };
    const { value: event } = result;
    if (event.type === "review_requested" && event.callId !== undefined)
      this.approvals.add(event.reviewId);
    return { done: false, value: event };
  }
}
