import { stripVTControlCharacters } from "node:util";

/** Control characters, line separators of Unicode, and marks that turn the writing direction. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u200E\u200F\u061C\u202A-\u202E\u2066-\u2069]/gu;
const UNPRINTABLE_BUT_LINES =
  /(?![\n\t])[\p{Cc}\u2028\u2029\u200E\u200F\u061C\u202A-\u202E\u2066-\u2069]/gu;

/** Text from outside as one line, so that a model or a document can't write log lines of its own. Cut at `limit` characters; -1 for all of it. */
export function oneLine(text: string, limit = -1): string {
  const looked = limit < 0 ? text : text.slice(0, limit * 20);
  const clean = stripVTControlCharacters(looked)
    .replace(/\s+/gu, " ")
    .replace(UNPRINTABLE, "")
    .trim();
  if (limit < 0 || clean.length <= limit) return clean;
  const characters = Array.from(clean);
  return characters.length > limit
    ? `${characters.slice(0, limit).join("")}${limit > 0 ? "..." : ""}`
    : clean;
}

/** Text of several lines without control characters. */
export function block(text: string): string {
  return stripVTControlCharacters(text).replaceAll("\r\n", "\n").replace(UNPRINTABLE_BUT_LINES, "");
}
