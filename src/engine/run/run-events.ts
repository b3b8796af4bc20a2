import type {
  EnsembleCallbacks,
  EnsembleEvent,
  EnsembleListener,
  EventType,
  NewEvent,
} from "../../contracts/events.js";
import type { Redactor } from "../../contracts/redaction.js";
import type { Clock } from "../../contracts/runtime.js";
import type { EventHub, Sink } from "../../kernel/events/event-hub.js";
import { CALLBACK_EVENTS } from "../../contracts/events.js";
import { markEvent } from "../../contracts/redaction.js";
import { emitProcessWarning } from "../../util/process-warning.js";
import { messageOf } from "../../util/errors.js";

const CALLBACKS = Object.entries(CALLBACK_EVENTS) as [keyof EnsembleCallbacks, EventType][];

/** Stamps one run's events and delivers them. Isolates observers from the run and each other. */
export class RunEvents {
  readonly warnings: string[] = [];
  readonly #all: Sink[] = [];
  readonly #byType = new Map<EventType, Sink[]>();
  /** Events emitted during a delivery. All observers receive them after the delivered event. */
  readonly #waiting: EnsembleEvent[] = [];
  #delivering = false;
  readonly #owners = new Map<Sink, object>();
  #seq = 0;
  #closed = false;
  #lastMs = Number.NaN;
  #lastIso = "";

  constructor(
    readonly runId: string,
    readonly clock: Clock,
    readonly hub: EventHub,
    readonly redactor: Redactor,
  ) {}

  onAll(fn: Sink): void {
    this.#all.push(fn);
  }

  /** Subscribes the callbacks of a listener object. Keeps their `this`. */
  onCallbacks(listener: EnsembleListener): void {
    if (listener.on !== undefined) this.#all.push(this.#owned(listener, listener.on));
    for (const [name, type] of CALLBACKS) {
      const callback = listener[name];
      if (callback === undefined) continue;
      const sinks = this.#byType.get(type) ?? [];
      sinks.push(this.#owned(listener, callback as (event: EnsembleEvent) => unknown));
      this.#byType.set(type, sinks);
    }
  }

  #owned(listener: EnsembleListener, callback: (event: EnsembleEvent) => unknown): Sink {
    const sink: Sink = (event) => callback.call(listener, event);
    this.#owners.set(sink, listener);
    return sink;
  }

  /** Returns whether a callback of this event type was passed. */
  listensTo(type: EventType): boolean {
    return this.#byType.has(type);
  }

  listens(type: EventType): boolean {
    if (this.#closed) return false;
    return this.#all.length > 0 || this.#byType.has(type) || this.hub.of(type).length > 0;
  }

  /** Returns whether an observer of the kernel requests streaming of the next model call. */
  wantsTokens(): boolean {
    let wanted = false;
    for (const { sink, tokens } of this.hub.streamed)
      try {
        wanted ||= tokens?.() === true;
      } catch (error) {
        this.#fault(sink, error);
      }
    return wanted;
  }

  emit(e: NewEvent): void {
    if (!this.listens(e.type)) return;
    // A stamped member of the union. The stamp is first: V8 adds fields to a copy slowly.
    const event = {
      v: 1,
      seq: this.#seq++,
      runId: this.runId,
      at: this.now(),
      ...e,
    } as EnsembleEvent;
    markEvent(event, this.redactor);
    if (this.#delivering) {
      this.#waiting.push(event);
      return;
    }
    this.#delivering = true;
    this.#spread(event);
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      this.#spread(next);
    this.#delivering = false;
  }

  /** Returns the current instant as ISO text. Caches it, as many events share a millisecond. */
  now(): string {
    const ms = this.clock.now().getTime();
    if (ms !== this.#lastMs) {
      this.#lastMs = ms;
      this.#lastIso = new Date(ms).toISOString();
    }
    return this.#lastIso;
  }

  warn(message: string): void {
    this.warnings.push(message);
    this.emit({ type: "run_warning", message });
    if (this.#closed || !this.#isHeard()) emitProcessWarning(this.redactor.redactText(message));
  }

  /** Returns whether a warning reaches an observer that has not thrown. */
  #isHeard(): boolean {
    const sinks = [...this.hub.of("run_warning").map(({ sink }) => sink), ...this.#all];
    sinks.push(...(this.#byType.get("run_warning") ?? []));
    return sinks.some((sink) => !this.hub.faulty.has(this.#owners.get(sink) ?? sink));
  }

  /** Stops all deliveries. Abandoned work may still emit events. */
  close(): void {
    this.#closed = true;
  }

  #spread(event: EnsembleEvent): void {
    for (const { sink } of this.hub.of(event.type)) this.#deliver(sink, event);
    for (const sink of this.#all) this.#deliver(sink, event);
    const typed = this.#byType.get(event.type);
    if (typed !== undefined) for (const sink of typed) this.#deliver(sink, event);
  }

  #deliver(sink: Sink, event: EnsembleEvent): void {
    try {
      const result = sink(event, this.redactor);
      if (result instanceof Promise) result.catch((error: unknown) => this.#fault(sink, error));
    } catch (error) {
      this.#fault(sink, error);
    }
  }

  #fault(sink: Sink, error: unknown): void {
    const observer = this.#owners.get(sink) ?? sink;
    if (this.hub.faulty.has(observer)) return;
    this.hub.faulty.add(observer);
    this.warn(`An event listener threw and is ignored: ${messageOf(error)}`);
  }
}
