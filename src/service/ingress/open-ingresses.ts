import type { Ingress, IngressPort } from "../../contracts/ingress.js";
import type { Awaitable } from "../../contracts/types.js";
import type { ServiceEvents } from "../service-events.js";
import { ServiceStateError } from "../../contracts/network-errors.js";
import { settleWithin } from "../../util/abort/timeouts.js";
import { messageOf } from "../../util/errors.js";

/** The function that ends an open ingress. */
interface OpenIngress {
  readonly name: string;
  readonly end: () => Awaitable<void>;
}

/** The open ingresses of a service, in addition to its routes. */
export class OpenIngresses {
  readonly #events: ServiceEvents;
  readonly #open: OpenIngress[] = [];
  readonly #closing = new AbortController();

  constructor(events: ServiceEvents) {
    this.#events = events;
  }

  /**
   * Opens ingresses in sequence.
   * @throws the error of an ingress, after the previous ingresses are closed; ServiceStateError at
   * `stop()`. `stop()` does not wait for an ingress that is being opened.
   */
  async start(
    ingresses: readonly Ingress[],
    portOf: (ingress: Ingress) => IngressPort,
  ): Promise<void> {
    const { signal } = this.#closing;
    try {
      for (const ingress of ingresses) {
        signal.throwIfAborted();
        await settleWithin(this.#opened(ingress, portOf(ingress)), signal);
      }
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Ends all ingresses. An error is reported and does not affect other ingresses. */
  async stop(): Promise<void> {
    this.#closing.abort(new ServiceStateError("The service was stopped while it started"));
    for (const one of this.#open.splice(0)) await this.#end(one);
  }

  async #opened(ingress: Ingress, port: IngressPort): Promise<void> {
    const { name } = ingress;
    const end = await ingress.open?.(port);
    if (end === undefined) return;
    if (this.#closing.signal.aborted) await this.#end({ name, end });
    else this.#open.push({ name, end });
  }

  async #end({ name, end }: OpenIngress): Promise<void> {
    try {
      await end();
    } catch (error) {
      this.#events.warn(`Ingress '${name}' could not be closed: ${messageOf(error)}`);
    }
  }
}
