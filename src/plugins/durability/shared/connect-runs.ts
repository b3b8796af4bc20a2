import type { JournalKeys } from "./journal-keys.js";
import type { KeptRuns } from "../../../contracts/journal.js";
import { checkOptions, requireText } from "../../../contracts/validation.js";
import { JournalRuns } from "./kept-runs.js";
import { openJournal, sealedWith } from "./open-journal.js";

/**
 * Connects to the stored runs at an address. Lists, shows, cancels, settles, forks and deletes the
 * runs, and answers their reviews. Pass the `encryptionKey` of `durable()`. Without it, encrypted
 * entries can't be read.
 *
 * @throws ValidationError for an invalid address; the methods reject with JournalError if the
 * storage fails.
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
