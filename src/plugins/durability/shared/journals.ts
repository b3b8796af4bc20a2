import type { Journal as Contract } from "../../../contracts/journal.js";
import type { InMemoryJournalOptions } from "./in-memory/in-memory-journal.js";
import type { SqlJournalOptions } from "./sql/sql-journal.js";
import { openFileJournal } from "./file/file-journal.js";
import { InMemoryJournal } from "./in-memory/in-memory-journal.js";
import { openSqlJournal } from "./sql/sql-journal.js";

/** The storage of runs. See the contract. */
export type Journal = Contract;

/** The available journals for `durable({ journal })`. Each is opened at its first call. */
export const Journal = Object.freeze({
  /**
   * Stores runs in memory, for the lifetime of the object. Intended for tests.
   * @throws ValidationError for an unknown option.
   */
  inMemory: (options?: InMemoryJournalOptions): Journal => new InMemoryJournal(options),
  /**
   * Stores runs in a folder, with one file per run. Several processes may share the folder. Default
   * `.agentensemble/runs`.
   */
  file: (folder?: string): Journal => openFileJournal(folder),
  /**
   * Stores runs in PostgreSQL, on a server or in this process.
   * @throws ValidationError for invalid options.
   */
  sql: (options: SqlJournalOptions): Journal => openSqlJournal(options),
});
