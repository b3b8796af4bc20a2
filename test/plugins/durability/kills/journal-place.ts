import type { Journal } from "../../../../src/contracts/journal.js";
import { openFileJournal } from "../../../../src/plugins/durability/shared/file/file-journal.js";
import { openSqlJournal } from "../../../../src/plugins/durability/shared/sql/sql-journal.js";

/** The place of a journal: a folder, or a schema of a database. */
export type JournalPlace =
  { readonly folder: string } | { readonly url: string; readonly schema: string };

export function journalAt(place: JournalPlace): Journal {
  return "folder" in place ? openFileJournal(place.folder) : openSqlJournal(place);
}
