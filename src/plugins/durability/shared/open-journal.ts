import type { Journal } from "../../../contracts/journal.js";
import { ValidationError } from "../../../contracts/errors.js";

/** The journal of an address. It is opened at its first call. @throws ValidationError for an address of another form. */
export function openJournal(url: string): Journal {
  throw new ValidationError(`There is no journal for '${url.slice(0, url.indexOf(":") + 1)}'`);
}
