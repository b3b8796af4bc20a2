/** One line as displayed. Includes line separators that few programs write. */
const LINES = /[^\n\r\v\f\u0085\u2028\u2029]+/g;
const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

/** Invisible characters: white space of all kinds, and marks without a width. */
const UNSEEN = /[\s\p{Cf}]+/gu;
/** A line that may need an escape. Most lines don't match and need no exact check. */
const SUSPECT = /^[\s\p{Cf}]*[#＃\p{Pd}]/u;
/**
 * The end of an entry (`---`) or the heading of a section (`## Task`), ignoring invisible
 * characters.
 */
const SECTION_END = /^(?:\p{Pd}{3,}|[#＃]{2}(?![#＃]).*)$/u;
/** The same, or the heading of a part of a section (`### Writer: Draft`). */
const PART_END = /^(?:\p{Pd}{3,}|[#＃]{2,3}(?![#＃]).*)$/u;

function contained(text: string, end: RegExp): string {
  return text.replace(LINES, (line) =>
    SUSPECT.test(line) && end.test(line.replace(UNSEEN, "")) ? `\\${line}` : line,
  );
}

/**
 * Escapes text of a model or from outside. The result can't end its section of a prompt. Adds a
 * backslash before a line that would end an entry or start a section, as in Markdown. All other
 * lines remain unchanged.
 */
export function escapeSection(text: string): string {
  return contained(text, SECTION_END);
}

/**
 * Escapes text inside a section with parts (headings `###`). The result also can't imitate another
 * part.
 */
export function escapePart(text: string): string {
  return contained(text, PART_END);
}

/** Escapes text for an item of a list. Indents its further lines: no line becomes another item. */
export function listItem(text: string): string {
  return escapeSection(text).replace(LINE_ENDS, "\n  ");
}

/** Returns text as one line: a name, a heading. */
export function oneLine(text: string): string {
  return text.replace(LINE_ENDS, " ");
}

/** Returns whether `value` is a string with more than white space. */
export function hasText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/**
 * Returns a string unchanged, and any other value as JSON. Returns an empty string for null and
 * values without JSON.
 * @throws TypeError for a cycle or a BigInt.
 */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : (JSON.stringify(value) ?? "");
}

/**
 * Escapes a name as part of a key whose parts are joined with `@`. Writes `%` and `@` as in URLs:
 * no name resembles two parts.
 */
export function keyPart(name: string): string {
  return name.includes("%") || name.includes("@")
    ? name.replace(/[%@]/g, encodeURIComponent)
    : name;
}

/** Returns `1 tool call`, `2 tool calls`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Cuts a text after `length` characters and appends `mark`. Never splits a character. */
export function cutText(text: string, length: number, mark: string): string {
  if (text.length <= length) return text;
  const code = text.charCodeAt(length - 1);
  const end = code >= 0xd800 && code < 0xdc00 ? length - 1 : length;
  return `${text.slice(0, end)}${mark}`;
}

/**
 * Shortens a text longer than `limit` characters to its start and end, with its length in between.
 * Never splits a character.
 */
export function excerpt(text: string, limit = 200): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const code = text.charCodeAt(text.length - half);
  const from = text.length - half + (code >= 0xdc00 && code < 0xe000 ? 1 : 0);
  return `${cutText(text, half, "")} ... [${text.length} characters] ... ${text.slice(from)}`;
}
