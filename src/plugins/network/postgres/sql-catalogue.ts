import type { Catalogue, CatalogueEntry } from "../../../contracts/network.js";
import type { SqlNetwork } from "./sql-network.js";
import { requireDuration } from "../../../contracts/validation.js";
import { deepFreeze } from "../../../util/objects.js";
import { indexedKey } from "../../shared/sql/sql-text.js";
import { copiedEntry } from "../shared/local-catalogue.js";

/** The running instances as rows that expire. */
export class SqlCatalogue implements Catalogue {
  readonly #network: SqlNetwork;

  constructor(network: SqlNetwork) {
    this.#network = network;
  }

  async announce(entry: CatalogueEntry, ttlMs: number): Promise<void> {
    requireDuration("announce() ttlMs", ttlMs ?? null);
    const { ensemble, instance, ...rest } = copiedEntry(entry);
    await this.#network.query(
      `insert into ${this.#table} (ensemble, instance, entry, until) values ($1, $2, $3, clock_timestamp() + $4::float8 * interval '1 ms')
      on conflict (ensemble, instance) do update set entry = excluded.entry, until = excluded.until returning instance`,
      [
        indexedKey(ensemble),
        indexedKey(instance),
        JSON.stringify({ ensemble, instance, ...rest }),
        ttlMs,
      ],
    );
  }

  async withdraw(ensemble: string, instance: string): Promise<void> {
    await this.#network.query(
      `delete from ${this.#table} where ensemble = $1 and instance = $2 returning instance`,
      [indexedKey(ensemble), indexedKey(instance)],
    );
  }

  async entries(): Promise<readonly CatalogueEntry[]> {
    const rows = await this.#network.query(
      `select entry from ${this.#table} where until > clock_timestamp() order by ensemble, instance`,
      [],
    );
    return rows.map(
      // The entry was checked when it was announced.
      (row) => deepFreeze(JSON.parse(row["entry"] ?? "{}") as CatalogueEntry),
    );
  }

  /** Closes the whole backend, because its parts share their connections. */
  close(): Promise<void> {
    return this.#network.close();
  }

  get #table(): string {
    return `"${this.#network.schema}".catalogue`;
  }
}
