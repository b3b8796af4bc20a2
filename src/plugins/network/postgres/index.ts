import type { NetworkBackend } from "../../../contracts/network.js";
import { checkOptions, requireDuration } from "../../../contracts/validation.js";
import { checkSchemaName, DEFAULT_SCHEMA } from "../../shared/sql/migrations.js";
import { databaseAt, sqlPlace } from "../../shared/sql/sql-place.js";
import { localSettings } from "../shared/local-options.js";
import { urlFilter } from "../shared/url-filter.js";
import { sqlBackend } from "./sql-backend.js";

/** The database of the backend. */
export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database` (package pg), or `pglite:<folder>` (package `@electric-sql/pglite`), which one process at a time can use. */
  readonly url: string;
  /** The schema, created if it is missing: at most 48 lower-case letters, digits and `_`. Default `agentensemble`, which `durable()` also uses. */
  readonly schema?: string | undefined;
  /**
   * Milliseconds that correspond to one rank of priority: a request with the next lower priority is
   * delivered first if it was accepted this much earlier. Equal in all processes. Default 60,000.
   */
  readonly agingMs?: number | undefined;
  /**
   * Milliseconds for which ids of done requests are kept. Set it to `resultTtlMs` of the services.
   * Default 86,400,000.
   */
  readonly idTtlMs?: number | undefined;
  /**
   * Time limit for a connection and for each statement, in milliseconds. A statement that fails
   * with its connection is repeated for this time. Not for PGlite. Default 9,000.
   */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 9_000;

/**
 * A backend in PostgreSQL, for any number of processes. The first call loads the package, connects,
 * and creates missing tables. The caller must close it.
 * @throws ValidationError for options that cannot work.
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
