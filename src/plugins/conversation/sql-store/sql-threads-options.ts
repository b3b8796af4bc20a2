import { checkOptions, requireDuration } from "../../../contracts/validation.js";
import { checkSchemaName, DEFAULT_SCHEMA } from "../../shared/sql/migrations.js";
import { sqlPlace, type SqlPlace } from "../../shared/sql/sql-place.js";

/** Options of `ConversationStore.sql`. */
export interface SqlThreadsOptions {
  /**
   * The URL of the database. `postgres://user:password@host:5432/database` for a server (package
   * `pg`). `pglite:./folder` for PostgreSQL in this process with its data in a folder,
   * `pglite:memory` without persistence (package `@electric-sql/pglite`).
   */
  readonly url: string;
  /** The database schema, which is created if it is missing. Default `agentensemble`. */
  readonly schema?: string | undefined;
  /**
   * Time limit of opening a connection and of a statement, in milliseconds. Not used for PGlite.
   * Default 30,000.
   */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 30_000;

/** @throws ValidationError */
export function resolveSqlThreads(o: SqlThreadsOptions): {
  readonly place: SqlPlace;
  readonly schema: string;
} {
  const what = "ConversationStore.sql";
  checkOptions(what, o, ["url", "schema", "timeoutMs"]);
  requireDuration(`${what} timeoutMs`, o.timeoutMs);
  return {
    place: sqlPlace(what, o, TIMEOUT_MS),
    schema: checkSchemaName(what, o.schema ?? DEFAULT_SCHEMA),
  };
}
