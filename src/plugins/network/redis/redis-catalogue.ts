import type { Catalogue, CatalogueEntry } from "../../../contracts/network.js";
import type { RedisLink } from "./redis-link.js";
import type { RedisNames } from "./redis-names.js";
import { requireDuration } from "../../../contracts/validation.js";
import { deepFreeze } from "../../../util/objects.js";
import { copiedEntry } from "../shared/local-catalogue.js";

/** Removes a field that still has this value. */
const REMOVE = `if redis.call("HGET", KEYS[1], ARGV[1]) == ARGV[2] then
  redis.call("HDEL", KEYS[1], ARGV[1])
end`;

interface AnnouncedEntry {
  readonly entry: CatalogueEntry;
  /** Time of expiry in milliseconds by the clock of Redis. */
  readonly until: number;
}

/** The catalogue, as one hash of Redis. */
export class RedisCatalogue implements Catalogue {
  readonly #link: RedisLink;
  readonly #key: string;

  constructor(link: RedisLink, names: RedisNames) {
    this.#link = link;
    this.#key = names.catalogue;
  }

  async announce(entry: CatalogueEntry, ttlMs: number): Promise<void> {
    requireDuration("announce() ttlMs", ttlMs ?? null);
    const copy = copiedEntry(entry);
    await this.#link.use(async ({ redis, storeNow }) => {
      const announced: AnnouncedEntry = { entry: copy, until: storeNow() + ttlMs };
      await redis.hset(this.#key, catalogueField(copy), JSON.stringify(announced));
    });
  }

  async withdraw(ensemble: string, instance: string): Promise<void> {
    await this.#link.use(({ redis }) =>
      redis.hdel(this.#key, catalogueField({ ensemble, instance })),
    );
  }

  async entries(): Promise<readonly CatalogueEntry[]> {
    return this.#link.use(async ({ redis, storeNow }) => {
      const now = storeNow();
      const entries: CatalogueEntry[] = [];
      for (const [field, json] of Object.entries(await redis.hgetall(this.#key))) {
        const { entry, until } = JSON.parse(json) as AnnouncedEntry; // written by `announce`
        if (until > now) entries.push(deepFreeze(entry));
        else await redis.eval(REMOVE, 1, this.#key, field, json);
      }
      return entries;
    });
  }

  close(): Promise<void> {
    return this.#link.close();
  }
}

function catalogueField({
  ensemble,
  instance,
}: Pick<CatalogueEntry, "ensemble" | "instance">): string {
  return JSON.stringify([ensemble, instance]);
}
