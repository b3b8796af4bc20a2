import type { EventStream, EventType, ObserveOptions } from "../../contracts/events.js";
import { checkObserver } from "../../contracts/events.js";

type Listener = Parameters<EventStream["on"]>[0];

/** Receives events. */
export type Sink = (...args: Parameters<Listener>) => unknown;

/** An observer of a kernel. */
interface Observer extends ObserveOptions {
  readonly sink: Sink;
}

/** Delivers the events of all runs to the observers of a kernel. */
export class EventHub implements EventStream {
  #observers: readonly Observer[] = [];
  /** The observers of each event type requested so far. */
  readonly #byType = new Map<EventType, readonly Observer[]>();
  #streamed: readonly Observer[] = [];
  /** Observers that have thrown. The first fault of each is reported. */
  readonly faulty = new WeakSet<object>();

  on(sink: Listener, o: ObserveOptions = {}): () => void {
    checkObserver(sink, o);
    const observer: Observer = { sink, only: o.only && [...o.only], tokens: o.tokens };
    this.#set([...this.#observers, observer]);
    return () => this.#set(this.#observers.filter((other) => other !== observer));
  }

  /** Returns a type's observers, oldest first. The array does not change during an iteration. */
  of(type: EventType): readonly Observer[] {
    let observers = this.#byType.get(type);
    if (observers === undefined) {
      observers = this.#observers.filter((observer) => reads(observer, type));
      this.#byType.set(type, observers);
    }
    return observers;
  }

  /** Returns the observers that decide before each model call whether to stream it. */
  get streamed(): readonly Observer[] {
    return this.#streamed;
  }

  #set(observers: readonly Observer[]): void {
    this.#observers = observers;
    this.#streamed = observers.filter(({ tokens }) => tokens !== undefined);
    this.#byType.clear();
  }
}

function reads({ only }: Observer, type: EventType): boolean {
  return only === undefined || only.includes(type);
}
