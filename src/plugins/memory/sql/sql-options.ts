import type { EmbeddingModel } from "../../../contracts/embedding.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireDuration } from "../../../contracts/validation.js";
import { sqlPlace, type SqlPlace } from "../../shared/sql/sql-place.js";
import { checkMinScore, checkEmbeddingModel } from "../shared/semantic-options.js";

/** Location of a SQL memory, and how it searches. */
export interface SqlMemoryOptions {
  /**
   * `postgres://user:password@host:5432/database` for a server (package pg). `pglite:./folder` for
   * PostgreSQL inside this process with its data in a folder, `pglite:memory` without persistence
   * (package `@electric-sql/pglite`). A relative folder is resolved against the current folder of
   * the moment when the store is created.
   */
  readonly url: string;
  /**
   * Makes the store search by meaning, which needs the extension pgvector (with PGlite the package
   * `@electric-sql/pglite-pgvector`). Without it, searches return the latest entries.
   */
  readonly model?: EmbeddingModel | undefined;
  /**
   * The table, created if it is missing. Lower-case letters, digits and `_`; at most 48 characters.
   * A second table with the suffix `_scopes` stores the versions. Default `agentensemble_memory`.
   */
  readonly table?: string | undefined;
  /**
   * Minimum similarity to the query, -1 to 1; entries below are omitted. Requires a model. Default:
   * no minimum.
   */
  readonly minScore?: number | undefined;
  /**
   * Time limit in milliseconds for a server to accept a connection, and to execute a statement. Not
   * used for PGlite. Default 30,000.
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

/** @throws ValidationError for invalid options */
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
