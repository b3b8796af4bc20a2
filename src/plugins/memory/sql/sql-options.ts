import type { EmbeddingModel } from "../../../contracts/embedding.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireDuration } from "../../../contracts/validation.js";
import { sqlPlace, type SqlPlace } from "../../shared/sql/sql-place.js";
import { checkMinScore, checkEmbeddingModel } from "../shared/semantic-options.js";

/** Options of a SQL memory: the database, and how to search. */
export interface SqlMemoryOptions {
  /**
   * The URL of the database. `postgres://user:password@host:5432/database` for a server (package
   * `pg`). `pglite:./folder` for PostgreSQL in this process with its data in a folder,
   * `pglite:memory` without persistence (package `@electric-sql/pglite`). A relative folder is
   * resolved against the current folder at the time the store is created.
   */
  readonly url: string;
  /**
   * A model with which the store searches by meaning. Requires the extension pgvector (for PGlite,
   * the package `@electric-sql/pglite-pgvector`). Default: none. Searches then return the latest
   * entries.
   */
  readonly model?: EmbeddingModel | undefined;
  /**
   * The name of the table: lower-case letters, digits and `_`, at most 48 characters. The table is
   * created if it is missing. A second table with the suffix `_scopes` stores the versions. Default
   * `agentensemble_memory`.
   */
  readonly table?: string | undefined;
  /**
   * Minimum similarity of an entry to the query, from -1 to 1. Requires `model`. Default: no
   * minimum.
   */
  readonly minScore?: number | undefined;
  /**
   * Time limit in milliseconds for the server to accept a connection, and for each statement.
   * Refused for PGlite. Default 30,000.
   */
  readonly timeoutMs?: number | undefined;
}

export interface ResolvedSqlMemoryOptions {
  readonly place: SqlPlace;
  readonly model: EmbeddingModel | undefined;
  readonly table: string;
  readonly minScore: number;
}

const KNOWN = ["url", "model", "table", "minScore", "timeoutMs"];
const DEFAULT_TABLE = "agentensemble_memory";
const DEFAULT_TIMEOUT_MS = 30_000;

/** @throws ValidationError for an invalid option. */
export function resolveSqlMemoryOptions(options: SqlMemoryOptions): ResolvedSqlMemoryOptions {
  checkOptions("sqlMemoryStore()", options, KNOWN);
  const { model, minScore, table = DEFAULT_TABLE } = options;
  if (model !== undefined) checkEmbeddingModel(model);
  if (minScore !== undefined && model === undefined)
    throw new ValidationError(
      "sqlMemoryStore() minScore needs a model: without one nothing is scored",
    );
  if (typeof table !== "string" || !/^[a-z_][a-z0-9_]{0,47}$/.test(table)) {
    throw new ValidationError(
      `sqlMemoryStore() table must be small letters, digits and _, at most 48 and no digit first, got: ${preview(table)}`,
    );
  }
  requireDuration("sqlMemoryStore() timeoutMs", options.timeoutMs);
  return {
    place: sqlPlace("sqlMemoryStore()", options, DEFAULT_TIMEOUT_MS),
    model,
    table,
    minScore: checkMinScore(minScore),
  };
}
