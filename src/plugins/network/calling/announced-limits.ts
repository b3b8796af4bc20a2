import type { CatalogueEntry, NetworkBackend } from "../../../contracts/network.js";
import type { Clock } from "../../../contracts/runtime.js";

/** Time in milliseconds for which the entries of a catalogue are used. */
const USE_MS = 10_000;

interface Reading {
  readonly untilMs: number;
  readonly entries: Promise<readonly CatalogueEntry[]>;
}

/** The limits of waiting requests that the running instances of services announce. */
export class AnnouncedLimits {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #readings = new WeakMap<NetworkBackend, Reading>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /**
   * Returns the greatest limit of the instances of an ensemble. Returns `undefined` if no instance
   * announces a limit. @throws NetworkError if the storage can't be reached.
   */
  async of(ensemble: string, backend: NetworkBackend): Promise<number | undefined> {
    const entries = await this.#entries(backend);
    const limits = entries
      .filter((entry) => entry.ensemble === ensemble)
      .flatMap(({ maxQueuedRequests }) => maxQueuedRequests ?? []);
    return limits.length === 0 ? undefined : Math.max(...limits);
  }

  #entries(backend: NetworkBackend): Promise<readonly CatalogueEntry[]> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#readings.get(backend);
    if (known !== undefined && nowMs < known.untilMs) return known.entries;
    const entries = backend.catalogue.entries();
    this.#readings.set(backend, { untilMs: nowMs + USE_MS, entries });
    entries.catch(() => this.#readings.delete(backend)); // the next request reads them again
    return entries;
  }
}
