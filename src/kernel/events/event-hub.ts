import type { EventStream } from "../../contracts/events.js";

type Listener = Parameters<EventStream["on"]>[0];

/** What receives events. */
export type Sink = (...args: Parameters<Listener>) => unknown;

/** The observers of a kernel: they see the events of all its runs. */
export class EventHub implements EventStream {
  readonly #sinks = new Set<Sink>();
  /** Those that have thrown once; a fault is reported once. */
  readonly faulty = new WeakSet<object>();

  on(fn: Listener): () => void {
    this.#sinks.add(fn);
    return () => this.#sinks.delete(fn);
  }

  get size(): number {
    return this.#sinks.size;
  }

  [Symbol.iterator](): IterableIterator<Sink> {
    return this.#sinks.values();
  }
}
