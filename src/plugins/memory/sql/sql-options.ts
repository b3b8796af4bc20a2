import type { EmbeddingModel } from "../../../contracts/embedding.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireDuration } from "../../../contracts/validation.js";
import { sqlPlace, type SqlPlace } from "../../shared/sql/sql-place.js";
import { checkMinScore, checkEmbeddingModel } from "../shared/semantic-options.js";

/** Where a SQL memory is, and how it finds. */
export interface SqlMemoryOptions {
  /**
   * `postgres://user:password@host:5432/database` for a server (package pg), `pglite:./folder` for PostgreSQL inside this process that keeps its data in a folder,
   * `pglite:memory` for one that forgets (package `@electric-sql/pglite`). A relative folder starts where the process was when the store was made.
   */
  readonly url: string;
  /** Makes the store find by meaning, which needs the extension pgvector (with PGlite the package `@electric-sql/pglite-pgvector`). Without it, the latest entries are found. */
  readonly model?: EmbeddingModel | undefined;
  /** The table, made when it is not there; small letters, digits and `_`, at most 48. A second one, with `_scopes` behind its name, has the versions. Default `agentensemble_memory`. */
  readonly table?: string | undefined;
  /** Entries less like the question than this are left out, -1 to 1. Only with a model. Default: none is. */
  readonly minScore?: number | undefined;
  /** How long a server may take to accept a connection, and to answer a statement, in milliseconds. Not for PGlite. Default 30,000. */
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

/** @throws ValidationError for options that cannot work. */
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
