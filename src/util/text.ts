/** One line, as whoever reads it sees lines: also between separators that few programs write. */
const LINES = /[^\n\r\v\f\u0085\u2028\u2029]+/g;
const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

/** Characters that are not seen: blanks of all kinds, and marks without a width. */
const UNSEEN = /[\s\p{Cf}]+/gu;
/** A line that may matter; most don't, and are not looked at closer. */
const SUSPECT = /^[\s\p{Cf}]*[#＃\p{Pd}]/u;
/** The end of an entry (`---`) or the heading of a section (`## Task`), to a reader who sees no blanks. */
const SECTION_END = /^(?:\p{Pd}{3,}|[#＃]{2}(?![#＃]).*)$/u;
/** Or the heading of a part of a section (`### Writer: Draft`). */
const PART_END = /^(?:\p{Pd}{3,}|[#＃]{2,3}(?![#＃]).*)$/u;

function contained(text: string, end: RegExp): string {
  return text.replace(LINES, (line) =>
    SUSPECT.test(line) && end.test(line.replace(UNSEEN, "")) ? `\\${line}` : line,
  );
}

/**
 * Text that came from a model or from outside, for a place in a prompt that it must not leave: a line that would end an entry or open a section
 * gets a backslash in front, as in Markdown. All other lines, and so nearly all texts, stay byte for byte.
 */
export function escapeSection(text: string): string {
  return contained(text, SECTION_END);
}

/** The same for a place in a section whose parts have headings of their own (`###`): it can't pose as another part either. */
export function escapePart(text: string): string {
  return contained(text, PART_END);
}

/** The same as an item of a list: its further lines are indented, so that none of them is an item of its own. */
export function listItem(text: string): string {
  return escapeSection(text).replace(LINE_ENDS, "\n  ");
}

/** Text for one line: a name, a heading. */
export function oneLine(text: string): string {
  return text.replace(LINE_ENDS, " ");
}

/** Whether `value` is a text with more than white space. */
export function hasText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** A text as it is, any other value as JSON, nothing for null and what JSON leaves out. @throws TypeError for a cycle or a BigInt. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : (JSON.stringify(value) ?? "");
}

/** A name as part of a key whose parts are joined with `@`: `%` and `@` are written as in addresses, so that no name looks like a part and the text behind it. */
export function keyPart(name: string): string {
  return name.replace(/[%@]/g, encodeURIComponent);
}

/** `1 tool call`, `2 tool calls`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The first `length` characters and then `mark`, where the text is longer; never half a character. */
export function cutText(text: string, length: number, mark: string): string {
  if (text.length <= length) return text;
  const code = text.charCodeAt(length - 1);
  const end = code >= 0xd800 && code < 0xdc00 ? length - 1 : length;
  return `${text.slice(0, end)}${mark}`;
}

/** The text; where it is longer than `limit` characters its start and its end, with its length between. Never half a character. */
export function excerpt(text: string, limit = 200): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const code = text.charCodeAt(text.length - half);
  const from = text.length - half + (code >= 0xdc00 && code < 0xe000 ? 1 : 0);
  return `${cutText(text, half, "")} ... [${text.length} characters] ... ${text.slice(from)}`;
}
