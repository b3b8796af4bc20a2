import type { ServiceEvent, ServiceEventFilter } from "../contracts/service.js";
import type { SecretFilter } from "../contracts/redaction.js";
import type { Clock } from "../contracts/runtime.js";
import { checkOptions, requireArray } from "../contracts/validation.js";
import { messageOf } from "../util/errors.js";
import { emitProcessWarning } from "../util/process-warning.js";

type Common = "v" | "seq" | "at" | "ensemble" | "instance";
type WithoutCommon<E> = E extends unknown ? Omit<E, Common> : never;
/** An event without the fields that all events have. */
export type NewServiceEvent = WithoutCommon<ServiceEvent>;

type EventListener = (event: ServiceEvent) => void;

interface ServiceListening {
  readonly fn: EventListener;
  readonly hears: (type: ServiceEvent["type"]) => boolean;
}

/** The listeners of the events, and the origin and redaction of events. */
export interface EventSettings {
  readonly listeners: readonly EventListener[];
  /** Removes secrets from messages and reasons. */
  readonly redact: SecretFilter;
}

/** Delivers the events of a service to its listeners. */
export class ServiceEvents {
  readonly #origin: { readonly ensemble: string; readonly instance: string };
  readonly #clock: Clock;
  readonly #redact: SecretFilter;
  readonly #listeners = new Set<ServiceListening>();
  readonly #faulty = new WeakSet<ServiceListening>();
  #seq = 0;

  constructor(
    origin: { readonly ensemble: string; readonly instance: string },
    clock: Clock,
    { listeners, redact }: EventSettings,
  ) {
    this.#origin = origin;
    this.#clock = clock;
    this.#redact = redact;
    for (const listener of listeners) this.on(listener);
  }

  /** Calls `fn` with each matching event. Returns a function that removes the callback. */
  on(fn: EventListener, filter: ServiceEventFilter = {}): () => void {
    checkOptions("on()", filter, ["only"]);
    requireArray("on() only", filter.only);
    const only = filter.only === undefined ? undefined : new Set(filter.only);
    // A function may be added twice.
    const listener: ServiceListening = { fn, hears: (type) => only?.has(type) ?? true };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  emit(event: NewServiceEvent): void {
    const seq = ++this.#seq;
    if (this.#listeners.size === 0) return;
    const at = this.#clock.now().toISOString();
    const shown = { ...event, ...this.#shownReason(event) };
    // The redacted event has the same type.
    const whole = Object.freeze({ v: 1, seq, at, ...this.#origin, ...shown }) as ServiceEvent;
    for (const listener of this.#listeners)
      if (listener.hears(event.type)) this.#call(listener, whole);
  }

  /** Redacts the reason of an event, because the reason may be the message of any error. */
  #shownReason(event: NewServiceEvent): { readonly reason?: string } {
    const { reason } = event as { readonly reason?: string | undefined }; // absent in some events
    return reason === undefined ? {} : { reason: this.#redact(reason) };
  }

  /** Reports a problem that ends no request. Without a listener, emits a process warning. */
  warn(text: string): void {
    const type = "service_warning";
    const message = this.#redact(text);
    if ([...this.#listeners].some(({ hears }) => hears(type))) this.emit({ type, message });
    else emitProcessWarning(message);
  }

  #call(listener: ServiceListening, event: ServiceEvent): void {
    try {
      listener.fn(event);
    } catch (error) {
      if (this.#faulty.has(listener)) return;
      this.#faulty.add(listener);
      emitProcessWarning(this.#redact(`A listener of service events failed: ${messageOf(error)}`));
    }
  }
}
