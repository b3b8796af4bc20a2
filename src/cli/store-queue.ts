import type { DeadLetter, NetworkBackend, QueueDepth } from "../contracts/network.js";
import { ValidationError } from "../contracts/errors.js";
import { networkStoreAt } from "./network-store.js";

/** The queue of an ensemble in a store, without a running service. */
export class StoreQueue {
  readonly #url: string;
  readonly #ensemble: string;

  constructor(url: string, ensemble: string) {
    this.#url = url;
    this.#ensemble = ensemble;
  }

  depth(): Promise<QueueDepth> {
    return this.#use(({ queue }) => queue.depth(this.#ensemble));
  }

  deadLetters(): Promise<readonly DeadLetter[]> {
    return this.#use(({ queue }) => queue.deadLetters(this.#ensemble));
  }

  /** @throws ValidationError for a request that is not a dead letter. */
  redrive(requestId: string): Promise<void> {
    return this.#use(async (backend) => {
      const { redriveLetter } = await import("../network.js");
      if (!(await redriveLetter(backend, this.#ensemble, requestId)))
        throw this.#unknown(requestId, "is not a dead letter");
    });
  }

  /** @throws ValidationError for a request that has ended or is unknown. */
  cancel(requestId: string, reason: string): Promise<void> {
    return this.#use(async (backend) => {
      const { Transport: transports } = await import("../network.js");
      const transport = transports.of(this.#ensemble, backend);
      if (!(await transport.cancel(requestId, reason)))
        throw this.#unknown(requestId, "has ended, or is unknown");
    });
  }

  async #use<T>(work: (backend: NetworkBackend) => Promise<T>): Promise<T> {
    const backend = await networkStoreAt(this.#url).open();
    try {
      return await work(backend);
    } finally {
      await backend.close();
    }
  }

  #unknown(requestId: string, what: string): ValidationError {
    return new ValidationError(`Request '${requestId}' of '${this.#ensemble}' ${what}`);
  }
}
