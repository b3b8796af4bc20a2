import type { RunStore as RunStoreContract } from "../../../contracts/run-store.js";
import { fileRuns, type RunFolderOptions } from "./file/file-runs.js";
import { readOnlyRuns } from "./read-only-runs.js";
import { sqlRuns, type SqlRunsOptions } from "./sql/sql-runs.js";
import { inMemoryRuns, type RunMemoryOptions } from "./memory-runs.js";

export type { RunFolderOptions } from "./file/file-runs.js";
export type { SqlRunsOptions } from "./sql/sql-runs.js";
export type { RunMemoryOptions } from "./memory-runs.js";

/** A store of the logs and summaries of runs. All texts passed to a store are redacted. */
export type RunStore = RunStoreContract;

/** The available stores of runs, for the option `store` of the dashboard. */
export const RunStore = Object.freeze({
  /**
   * Stores runs in memory, for the lifetime of the object.
   * @throws ValidationError for limits below 1.
   */
  inMemory: (o?: RunMemoryOptions): RunStoreContract => inMemoryRuns(o),
  /**
   * Stores runs in a folder: `{runId}.log.jsonl` for each run, and `index.jsonl`. One process at a
   * time may write. Any number of processes may read. Default `.agentensemble/dashboard`.
   *
   * @throws ValidationError for a blank folder and for limits below 1.
   */
  file: (folder?: string, o?: RunFolderOptions): RunStoreContract => fileRuns(folder, o),
  /**
   * Stores runs in PostgreSQL, on a server or in this process with PGlite. Any number of processes
   * may write to a server.
   * @throws ValidationError for invalid options.
   */
  sql: (o: SqlRunsOptions): RunStoreContract => sqlRuns(o),
  /**
   * Reads several sources: trace files, diagrams, folders, and the addresses `file:<folder>`,
   * `pglite:<folder>` and `postgres://...`. Writes throw a RunStoreError.
   *
   * @throws ValidationError for a missing path, and for an invalid address.
   */
  readOnly: (places: readonly string[]): RunStoreContract => readOnlyRuns(places),
});
