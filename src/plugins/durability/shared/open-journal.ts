import type { Journal } from "../../../contracts/journal.js";
import type { JournalKeys } from "./journal-keys.js";
import { ValidationError } from "../../../contracts/errors.js";
import { openFileJournal } from "./file/file-journal.js";
import { aesJournalCodec } from "./sealed/aes-journal-codec.js";
import { sealedJournal } from "./sealed/sealed-journal.js";
import { openSqlJournal } from "./sql/sql-journal.js";

/**
 * Returns the journal of an address: `file:<folder>`, `pglite:<folder>` or `postgres://...`. The
 * journal is opened at its first call.
 * @throws ValidationError for an invalid address.
 */
export function openJournal(url: string): Journal {
  const folder = /^file:(?:\/\/(?=\/))?(.+)$/s.exec(url)?.[1];
  if (folder !== undefined) return openFileJournal(folder);
  if (/^(pglite:|postgres(ql)?:\/\/)/.test(url)) return openSqlJournal({ url });
  const scheme = /^[a-z][a-z\d+.-]*:/i.exec(url)?.[0];
  throw new ValidationError(
    `There is no journal for ${scheme === undefined ? "an address without a scheme" : `'${scheme}'`}`,
    { hint: "Use file:<folder>, pglite:<folder> or postgres://host:5432/database." },
  );
}

/**
 * Returns the journal with entries encrypted by AES-256-GCM.
 * @throws ValidationError for an invalid key.
 */
export function sealedWith(journal: Journal, keys: JournalKeys): Journal {
  const codec = aesJournalCodec(typeof keys === "string" ? { current: keys } : keys);
  return sealedJournal(journal, codec);
}
