import { printableText } from "../util/printable.js";

/** A text as one word of a POSIX shell, for commands that people copy. */
export function shellWord(text: string): string {
  const clean = printableText(text).replace(/[\n\t]/g, "");
  return /^[\w@%+=:,./-]+$/.test(clean) ? clean : `'${clean.replaceAll("'", "'\\''")}'`;
}
