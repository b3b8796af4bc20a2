/**
 * Escape sequences: control sequences, strings to their end (titles, links), and short ones. No two
 * attempts read the same character: the time is linear. The pattern of `node:util` is quadratic.
 */
const SEQUENCES =
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|(?:\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u009C]*(?:\u0007|\u001B\\|\u009C)|\u001B[ -/]*[0-~]/g;
/** Characters that prevent printing a text unchanged. */
const SUSPECT = /[^\P{Cc}\n\t]|[\u200E\u200F\u061C\u2028-\u202E\u2066-\u2069]/u;
/** Control characters and marks that change the writing direction. */
const UNPRINTABLE = /[\p{Cc}\u200E\u200F\u061C\u202A-\u202E\u2066-\u2069]/gu;
/** The same characters without line ends and tabs. */
const UNPRINTABLE_IN_LINES = /[^\P{Cc}\n\t]|[\u200E\u200F\u061C\u202A-\u202E\u2066-\u2069]/gu;
/** The same characters and line ends, if JSON does not escape them. */
const UNESCAPED_IN_JSON = /[\u007F-\u009F\u200E\u200F\u061C\u2028-\u202E\u2066-\u2069]/gu;
const LINE_ENDS = /\r\n|\r(?!$)|[\u2028\u2029]/gu;

/**
 * Returns text from outside as one printable line. The result can't control a terminal or start a
 * line. Removes escape sequences, control characters and marks that change the writing direction.
 * Replaces characters after the first `limit` by `...`.
 */
export function printableLine(text: string, limit = Number.POSITIVE_INFINITY): string {
  const clean = text
    .slice(0, limit * 20)
    .replace(SEQUENCES, "")
    .replace(/\s+/gu, " ")
    .replace(UNPRINTABLE, "")
    .trim();
  if (clean.length <= limit) return clean;
  const characters = Array.from(clean);
  return characters.length > limit ? `${characters.slice(0, limit).join("")}...` : clean;
}

/**
 * Returns text from outside as printable lines. Line ends become `\n`. Tabs are kept. Otherwise as
 * {@link printableLine}.
 */
export function printableText(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return text.replace(SEQUENCES, "").replace(LINE_ENDS, "\n").replace(UNPRINTABLE_IN_LINES, "");
}

/**
 * Escapes unprintable characters in JSON text. The result can't control a terminal and has the same
 * value.
 */
export function printableJson(json: string): string {
  return json.replace(
    UNESCAPED_IN_JSON,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
