import type { Journal as Contract } from "../../../contracts/journal.js";
import type { InMemoryJournalOptions } from "./in-memory/in-memory-journal.js";
import type { SqlJournalOptions } from "./sql/sql-journal.js";
import { openFileJournal } from "./file/file-journal.js";
import { InMemoryJournal } from "./in-memory/in-memory-journal.js";
import { openSqlJournal } from "./sql/sql-journal.js";

/** A storage of runs; see the contract. */
export type Journal = Contract;

/** The available journals for `durable({ journal })`. Each is opened at its first call. */
export const Journal = Object.freeze({
  /** With the lifetime of the object: for tests. @throws ValidationError for an unknown option. */
  inMemory: (options?: InMemoryJournalOptions): Journal => new InMemoryJournal(options),
  /**
   * In a folder, one file per run; several processes may share it. Default `.agentensemble/runs`.
   */
  file: (folder?: string): Journal => openFileJournal(folder),
  /** In PostgreSQL, on a server or in this process. @throws ValidationError for options that cannot work. */
  sql: (options: SqlJournalOptions): Journal => openSqlJournal(options),
});
