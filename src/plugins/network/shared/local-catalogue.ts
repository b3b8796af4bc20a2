import type { Catalogue, CatalogueEntry } from "../../../contracts/network.js";
import type { QueueClock } from "./clock-timer.js";
import { ValidationError } from "../../../contracts/errors.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { preview, requireDuration, requireText } from "../../../contracts/validation.js";
import { deepFreeze, isObject } from "../../../util/objects.js";
import { jsonOf } from "../../shared/json-data.js";

/**
 * Copies an entry of a catalogue.
 * @throws ValidationError for an entry without ensemble, instance or capabilities, or without JSON.
 */
export function copiedEntry(entry: CatalogueEntry): CatalogueEntry {
  const { ensemble, instance, capabilities }: Partial<CatalogueEntry> = isObject(entry)
    ? entry
    : {};
  for (const [name, value] of Object.entries({ ensemble, instance }))
    requireText(value, `${name} of an entry must not be blank, got: ${preview(value)}`);
  if (!Array.isArray(capabilities))
    throw new ValidationError(
      `capabilities of an entry must be an array, got: ${preview(capabilities)}`,
    );
  // The entry was checked, and JSON keeps its form.
  return deepFreeze(JSON.parse(jsonOf("An entry", entry)) as CatalogueEntry);
}

/** The catalogue of one process. */
export class LocalCatalogue implements Catalogue {
  readonly #clock: Pick<QueueClock, "monotonicMs">;
  readonly #entries = new Map<string, { readonly entry: CatalogueEntry; readonly until: number }>();
  #isClosed = false;

  constructor(clock: Pick<QueueClock, "monotonicMs">) {
    this.#clock = clock;
  }

  async announce(entry: CatalogueEntry, ttlMs: number): Promise<void> {
    requireDuration("announce() ttlMs", ttlMs ?? null);
    const copy = copiedEntry(entry);
    this.#requireOpen();
    const until = this.#clock.monotonicMs() + ttlMs;
    this.#entries.set(instanceKey(copy.ensemble, copy.instance), { entry: copy, until });
  }

  async withdraw(ensemble: string, instance: string): Promise<void> {
    this.#requireOpen();
    this.#entries.delete(instanceKey(ensemble, instance));
  }

  async entries(): Promise<readonly CatalogueEntry[]> {
    this.#requireOpen();
    const now = this.#clock.monotonicMs();
    for (const [key, { until }] of this.#entries) if (until <= now) this.#entries.delete(key);
    return [...this.#entries.values()].map(({ entry }) => entry);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#entries.clear();
  }

  #requireOpen(): void {
    if (this.#isClosed)
      throw new NetworkError("The catalogue is closed", {
        hint: "Close the backend after its services and callers.",
      });
  }
}

function instanceKey(ensemble: string, instance: string): string {
  return JSON.stringify([ensemble, instance]);
}
