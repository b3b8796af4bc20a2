import type { JournalKeys } from "./journal-keys.js";
import type { KeptRuns } from "../../../contracts/journal.js";
import { checkOptions, requireText } from "../../../contracts/validation.js";
import { JournalRuns } from "./kept-runs.js";
import { openJournal, sealedWith } from "./open-journal.js";

/**
 * The runs that other processes keep at this address: to list, show, cancel, settle, fork and delete them, and to answer their reviews. `encryptionKey` is
 * that of `durable()`; without it sealed entries can't be read.
 * @throws ValidationError for an address of another form; JournalError from its methods where the storage fails.
 */
export async function connectRuns(
  url: string,
  o: { readonly encryptionKey?: JournalKeys | undefined } = {},
): Promise<KeptRuns & AsyncDisposable> {
  requireText(url, "connectRuns() needs the address of a journal");
  checkOptions("connectRuns", o, ["encryptionKey"]);
  const opened = openJournal(url);
  const journal = o.encryptionKey === undefined ? opened : sealedWith(opened, o.encryptionKey);
  return Object.assign(new JournalRuns(() => journal), {
    [Symbol.asyncDispose]: () => opened.close(),
  });
}
