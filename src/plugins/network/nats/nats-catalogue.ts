import type { Catalogue, CatalogueEntry } from "../../../contracts/network.js";
import type { Broker } from "./broker.js";
import { requireDuration } from "../../../contracts/validation.js";
import { deepFreeze } from "../../../util/objects.js";
import { copiedEntry } from "../shared/local-catalogue.js";
import { Bucket } from "./bucket.js";

const TTL = "AE-Ttl";

/** The instances of services in a bucket. */
export class NatsCatalogue implements Catalogue {
  readonly #broker: Broker;
  readonly #bucket: Bucket;

  constructor(broker: Broker) {
    this.#broker = broker;
    this.#bucket = new Bucket(broker, broker.names.catalogue);
  }

  async announce(entry: CatalogueEntry, ttlMs: number): Promise<void> {
    requireDuration("announce() ttlMs", ttlMs ?? null);
    const copy = copiedEntry(entry);
    const key = this.#broker.names.requestKey(copy.ensemble, copy.instance);
    await this.#broker.run(async (link) => {
      await this.#bucket.keepFor(link, ttlMs);
      const headers = { [TTL]: String(ttlMs) };
      await this.#bucket.put(link, key, JSON.stringify(copy), { headers });
    });
  }

  async withdraw(ensemble: string, instance: string): Promise<void> {
    const key = this.#broker.names.requestKey(ensemble, instance);
    await this.#broker.run((link) => this.#bucket.remove(link, key));
  }

  async entries(): Promise<readonly CatalogueEntry[]> {
    return this.#broker.run(async (link) => {
      const found: CatalogueEntry[] = [];
      for (const kept of await this.#bucket.list(link, "*.*")) {
        if (await this.#bucket.isOver(link, kept, Number(kept.header(TTL) ?? 0))) continue;
        // Written by `announce` alone.
        found.push(deepFreeze(JSON.parse(Buffer.from(kept.data).toString()) as CatalogueEntry));
      }
      return found;
    });
  }
}
