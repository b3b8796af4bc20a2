import { printableText } from "../util/printable.js";

/** Quotes a text as one word of a POSIX shell, for commands that users copy. */
export function shellWord(text: string): string {
  const clean = printableText(text).replace(/[\n\t]/g, "");
  return /^[\w@%+=:,./-]+$/.test(clean) ? clean : `'${clean.replaceAll("'", "'\\''")}'`;
}
