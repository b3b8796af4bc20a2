import type { EventStream, EventType, ObserveOptions } from "../../contracts/events.js";
import { ValidationError } from "../../contracts/errors.js";
import { checkOptions, requireArray, requireFunction } from "../../contracts/validation.js";

type Listener = Parameters<EventStream["on"]>[0];

/** What receives events. */
export type Sink = (...args: Parameters<Listener>) => unknown;

/** An observer of a kernel. */
interface Observer extends ObserveOptions {
  readonly sink: Sink;
}

/** The observers of a kernel: they see the events of all its runs. */
export class EventHub implements EventStream {
  readonly #observers = new Set<Observer>();
  /** The observers of each type that was asked for. */
  readonly #byType = new Map<EventType, Set<Observer>>();
  /** Observers with `tokens`. */
  readonly #streamed = new Set<Observer>();
  /** Those that have thrown once; a fault is reported once. */
  readonly faulty = new WeakSet<object>();

  on(sink: Listener, o: ObserveOptions = {}): () => void {
    checkObserver(o);
    const observer: Observer = { sink, only: o.only && [...o.only], tokens: o.tokens };
    this.#observers.add(observer);
    if (observer.tokens !== undefined) this.#streamed.add(observer);
    for (const [type, observers] of this.#byType)
      if (reads(observer, type)) observers.add(observer);
    return () => {
      for (const set of [this.#observers, this.#streamed, ...this.#byType.values()])
        set.delete(observer);
    };
  }

  /** The observers of one type, in the order in which they subscribed. */
  of(type: EventType): ReadonlySet<Observer> {
    let observers = this.#byType.get(type);
    if (observers === undefined) {
      observers = new Set([...this.#observers].filter((observer) => reads(observer, type)));
      this.#byType.set(type, observers);
    }
    return observers;
  }

  /** The observers that decide before each model call whether it is streamed. */
  get streamed(): ReadonlySet<Observer> {
    return this.#streamed;
  }
}

function reads({ only }: Observer, type: EventType): boolean {
  return only === undefined || only.includes(type);
}

/** @throws ValidationError for options that have no effect. */
function checkObserver(o: ObserveOptions): void {
  checkOptions("events.on", o, ["only", "tokens"]);
  requireArray("events.on only", o.only);
  requireFunction("events.on tokens", o.tokens);
  if (o.tokens !== undefined && o.only?.includes("token") === false)
    throw new ValidationError('events.on tokens has no effect: add "token" to only');
}
