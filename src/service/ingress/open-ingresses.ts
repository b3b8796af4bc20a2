import type { Ingress, IngressPort } from "../../contracts/ingress.js";
import type { Awaitable } from "../../contracts/types.js";
import type { ServiceEvents } from "../service-events.js";
import { messageOf } from "../../util/errors.js";

/** What messages come in by, besides the routes of a service. */
export class OpenIngresses {
  readonly #events: ServiceEvents;
  readonly #open: { readonly name: string; readonly end: () => Awaitable<void> }[] = [];
  #isClosed = false;

  constructor(events: ServiceEvents) {
    this.#events = events;
  }

  /** @throws the error of an ingress, after those before it are closed. */
  async start(
    ingresses: readonly Ingress[],
    portOf: (ingress: Ingress) => IngressPort,
  ): Promise<void> {
    try {
      for (const ingress of ingresses) {
        const end = await ingress.open?.(portOf(ingress));
        if (end !== undefined) this.#open.push({ name: ingress.name, end });
      }
    } catch (error) {
      await this.stop();
      throw error;
    }
    if (this.#isClosed) await this.stop(); // meanwhile
  }

  /** Ends all. An error is reported, and does not hinder the others. */
  async stop(): Promise<void> {
    this.#isClosed = true;
    for (const { name, end } of this.#open.splice(0)) {
      try {
        await end();
      } catch (error) {
        this.#events.warn(`Ingress '${name}' could not be closed: ${messageOf(error)}`);
      }
    }
  }
}
