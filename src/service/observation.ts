import type { Service } from "../contracts/service.js";
import type { ServiceObserver } from "../contracts/service-observer.js";
import type { ServiceEvents } from "./service-events.js";
import { messageOf } from "../util/errors.js";

/** The observers of one service, during its lifetime. */
export class Observation {
  readonly #observers: readonly ServiceObserver[];
  readonly #events: ServiceEvents;
  readonly #ends: (() => void)[] = [];

  constructor(observers: readonly ServiceObserver[], events: ServiceEvents) {
    this.#observers = observers;
    this.#events = events;
  }

  /** @throws the error of an observer. */
  begin(service: Service, limits: { readonly maxConcurrentRequests: number }): void {
    for (const observer of this.#observers) this.#ends.push(observer.observe(service, limits));
  }

  /** Ends all observers. An error is reported and does not affect other observers. */
  end(): void {
    for (const end of this.#ends.splice(0)) {
      try {
        end();
      } catch (error) {
        this.#events.warn(`An observer of the service failed at its end: ${messageOf(error)}`);
      }
    }
  }
}
