import type { CatalogueEntry } from "../contracts/network.js";
import type { DeliveryParts } from "./delivery-parts.js";
import { startClockTimer } from "../plugins/network/shared/clock-timer.js";
import { messageOf } from "../util/errors.js";

/** Lifetime of an entry of the catalogue, and the interval of its renewal, in ms. */
const TTL_MS = 60_000;
const RENEW_MS = 20_000;

/** Keeps the entry of a running service in the catalogue. */
export class Announcement {
  readonly #parts: DeliveryParts;
  readonly #entry: () => CatalogueEntry;
  #stopTimer: (() => void) | undefined;
  #hasFailed = false;
  #hasEnded = false;

  constructor(parts: DeliveryParts, entry: () => CatalogueEntry) {
    this.#parts = parts;
    this.#entry = entry;
  }

  /** @throws the error of the catalogue. */
  async begin(): Promise<void> {
    await this.#parts.backend.catalogue.announce(this.#entry(), TTL_MS);
    if (!this.#hasEnded) this.#schedule();
  }

  /** @throws the error of the catalogue. The entry then expires. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    if (this.#stopTimer === undefined) return;
    this.#stopTimer();
    this.#stopTimer = undefined;
    const { name, instance } = this.#parts.settings;
    await this.#parts.backend.catalogue.withdraw(name, instance);
  }

  #schedule(): void {
    this.#stopTimer = startClockTimer(this.#parts.clock, RENEW_MS, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { backend, events } = this.#parts;
    try {
      await backend.catalogue.announce(this.#entry(), TTL_MS);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) events.warn(`The service is not announced: ${messageOf(error)}`);
      this.#hasFailed = true;
    }
    if (this.#stopTimer !== undefined) this.#schedule();
    else await this.#withdraw(); // ended during the announcement
  }

  async #withdraw(): Promise<void> {
    const { name, instance } = this.#parts.settings;
    // After a failure, the entry expires.
    await this.#parts.backend.catalogue.withdraw(name, instance).catch(() => undefined);
  }
}
