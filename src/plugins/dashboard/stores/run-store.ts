import type { RunStore as RunStoreContract } from "../../../contracts/run-store.js";
import { fileRuns, type RunFolderOptions } from "./file/file-runs.js";
import { readOnlyRuns } from "./read-only-runs.js";
import { sqlRuns, type SqlRunsOptions } from "./sql/sql-runs.js";
import { inMemoryRuns, type RunMemoryOptions } from "./memory-runs.js";

export type { RunFolderOptions } from "./file/file-runs.js";
export type { SqlRunsOptions } from "./sql/sql-runs.js";
export type { RunMemoryOptions } from "./memory-runs.js";

/** Where the logs and summaries of runs are kept. All texts it is given are redacted. */
export type RunStore = RunStoreContract;

/** The stores of runs there are, for the option `store` of the dashboard. */
export const RunStore = Object.freeze({
  /** Lasts as long as the object. @throws ValidationError for bounds below 1. */
  inMemory: (o?: RunMemoryOptions): RunStoreContract => inMemoryRuns(o),
  /**
   * In a folder: `{runId}.log.jsonl` for each run, and `index.jsonl`. One process at a time writes;
   * any number of processes read. Default `.agentensemble/dashboard`.
   * @throws ValidationError for a blank folder and for limits below 1.
   */
  file: (folder?: string, o?: RunFolderOptions): RunStoreContract => fileRuns(folder, o),
  /**
   * In PostgreSQL, on a server or in this process with PGlite. Any number of processes write to a
   * server. @throws ValidationError for options that cannot work.
   */
  sql: (o: SqlRunsOptions): RunStoreContract => sqlRuns(o),
  /**
   * Several places, for reading only: trace files, diagrams, folders, and the addresses
   * `file:<folder>`, `pglite:<folder>` and `postgres://...`. Writes throw a RunStoreError.
   * @throws ValidationError for a path where nothing is, and for an address of another form.
   */
  readOnly: (places: readonly string[]): RunStoreContract => readOnlyRuns(places),
});
