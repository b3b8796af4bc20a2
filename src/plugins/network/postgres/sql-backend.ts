import type { NetworkBackend } from "../../../contracts/network.js";
import type { SecretFilter } from "../../../contracts/redaction.js";
import type { SqlDatabase } from "../../shared/sql/sql-database.js";
import { backendOf } from "../shared/backend-of.js";
import { SqlBudgets } from "./sql-budgets.js";
import { SqlCatalogue } from "./sql-catalogue.js";
import { SqlNetwork, type SqlNetworkSettings } from "./sql-network.js";
import { SqlQueue } from "./sql-queue.js";
import { SqlRateWindow } from "./sql-rate-window.js";
import { SqlResults } from "./sql-results.js";
import { SqlTopics } from "./sql-topics.js";

/** Time in ms after which the reservations of a process without heartbeats are released. */
const BUDGET_LEASE_MS = 30_000;

export interface SqlBackendSettings extends SqlNetworkSettings {
  /**
   * Time in ms after which the reservations of a process without heartbeats are released. Default
   * 30,000.
   */
  readonly budgetLeaseMs?: number;
  /** Removes the password of the database from a text. */
  readonly redact?: SecretFilter;
}

/** Returns the parts over one database, which `close()` closes. The caller has checked `schema`. */
export function sqlBackend(
  name: string,
  database: SqlDatabase,
  schema: string,
  { budgetLeaseMs = BUDGET_LEASE_MS, redact, ...settings }: SqlBackendSettings,
): NetworkBackend {
  const network = new SqlNetwork(database, schema, settings);
  return backendOf({
    name,
    redact,
    queue: new SqlQueue(network),
    results: new SqlResults(network),
    topics: new SqlTopics(network),
    catalogue: new SqlCatalogue(network),
    limits: {
      rateWindow: new SqlRateWindow(network),
      budgetAccounts: new SqlBudgets(network, budgetLeaseMs),
    },
  });
}
