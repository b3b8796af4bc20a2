import type { NetworkBackend } from "../../../contracts/network.js";
import { checkOptions, requireDuration } from "../../../contracts/validation.js";
import { checkSchemaName, DEFAULT_SCHEMA } from "../../shared/sql/migrations.js";
import { databaseAt, sqlPlace } from "../../shared/sql/sql-place.js";
import { localSettings } from "../shared/local-options.js";
import { urlFilter } from "../shared/url-filter.js";
import { sqlBackend } from "./sql-backend.js";

/** Options of `postgres()`. */
export interface PostgresOptions {
  /**
   * `postgres://user:password@host:5432/database` (package `pg`), or `pglite:<folder>` (package
   * `@electric-sql/pglite`) for one process at a time.
   */
  readonly url: string;
  /**
   * The database schema: at most 48 lower-case letters, digits and `_`. It is created if it is
   * missing. Default `agentensemble`, which `durable()` also uses.
   */
  readonly schema?: string | undefined;
  /**
   * Milliseconds that one rank of priority is worth. A request with the next lower priority is
   * delivered first if it was accepted at least this much earlier. Must be equal in all processes.
   * Default 60,000.
   */
  readonly agingMs?: number | undefined;
  /**
   * Time in milliseconds for which ids of completed requests are kept. Use the `resultTtlMs` of the
   * services. Default 86,400,000 (one day).
   */
  readonly idTtlMs?: number | undefined;
  /**
   * Time limit for a connection and for each statement, in milliseconds. If the connection fails,
   * its statement is repeated for this time. Not used for PGlite. Default 9,000.
   */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 9_000;

/**
 * A backend in PostgreSQL, for any number of processes. The first call loads the package, connects,
 * and creates missing tables. The caller must close the backend.
 *
 * @throws ValidationError for invalid options.
 */
export function postgres(options: PostgresOptions): NetworkBackend {
  checkOptions("postgres()", options, ["url", "schema", "agingMs", "idTtlMs", "timeoutMs"]);
  const { url, schema = DEFAULT_SCHEMA, agingMs, idTtlMs, timeoutMs } = options;
  requireDuration("postgres() timeoutMs", timeoutMs);
  const place = sqlPlace("postgres()", { url, timeoutMs }, TIMEOUT_MS);
  const { rules } = localSettings("postgres()", { agingMs, idTtlMs });
  return sqlBackend(place.kind, databaseAt(place, false), checkSchemaName("postgres()", schema), {
    rules,
    patienceMs: timeoutMs ?? TIMEOUT_MS,
    redact: urlFilter([url]),
  });
}
