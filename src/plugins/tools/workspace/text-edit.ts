import type { RE2JS } from "re2js";
import type { WorkLimit } from "./work-limit.js";
import { compileRegex, longestText } from "./regex.js";
import { positionsOf } from "./text-places.js";

/** One replacement. */
export interface Replacement {
  readonly find: string;
  readonly content: string;
  /** Whether `find` is a regular expression. The replacement is always plain text. */
  readonly regex?: boolean | undefined;
  /** Whether all matches are replaced. If false, there must be exactly one match. */
  readonly replaceAll?: boolean | undefined;
}

/** The text after an edit, or the reason why the edit is invalid. */
export type Edited =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

/**
 * Converts between a file's text and its edited form. The edited form has no byte order mark, and
 * `\n` line ends if all lines end in `\r\n`. A file with mixed line ends is edited unchanged.
 */
export class EditableText {
  readonly text: string;
  readonly #mark: string;
  readonly #isCrLf: boolean;
  readonly #isMixed: boolean;

  constructor(content: string) {
    this.#mark = content.startsWith("\ufeff") ? "\ufeff" : "";
    const body = content.slice(this.#mark.length);
    const ends = body.match(/\r?\n/g) ?? [];
    const crLf = ends.filter((end) => end === "\r\n").length;
    this.#isCrLf = crLf > 0 && crLf === ends.length;
    this.#isMixed = crLf > 0 && !this.#isCrLf;
    this.text = this.#isCrLf ? body.replaceAll("\r\n", "\n") : body;
  }

  /** Converts a model's text to the line ends of this file. */
  adapt(text: string): string {
    return this.#isMixed ? text : text.replaceAll("\r\n", "\n");
  }

  /** Restores the complete file from its edited form. */
  restore(text: string): string {
    return this.#mark + (this.#isCrLf ? text.replaceAll("\n", "\r\n") : text);
  }
}

/**
 * Replaces the lines from `start` to `end`, counted from 1, both inclusive. Without content the
 * lines are removed. The end of the last line is kept.
 */
export function replaceLines(text: string, start: number, end: number, content: string): Edited {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  if (start < 1 || end < 1) return { ok: false, problem: "Line numbers must be >= 1" };
  if (start > end) return { ok: false, problem: "startLine must be <= endLine" };
  if (start > lines.length)
    return { ok: false, problem: `startLine ${start} exceeds file length (${lines.length} lines)` };
  if (end > lines.length)
    return { ok: false, problem: `endLine ${end} exceeds file length (${lines.length} lines)` };
  const lineEnd = /\r?\n$/.exec(lines[end - 1] ?? "")?.[0] ?? "";
  const body = content.replace(/\r?\n$/, "");
  const [before, after] = [lines.slice(0, start - 1).join(""), lines.slice(end).join("")];
  if (content === "")
    return { ok: true, text: lineEnd === "" ? before.replace(/\r?\n$/, "") : before + after };
  return { ok: true, text: before + body + lineEnd + after };
}

/** Maximum number of matches of a pattern in one file. */
const MOST_MATCHES = 10_000;

async function matchesOf(
  text: string,
  regex: RE2JS,
  limit: WorkLimit,
): Promise<[number, number][] | string> {
  if (text.length > longestText(regex))
    return "the file is too large for this pattern; use text instead of a pattern, or a simpler one";
  const places: [number, number][] = [];
  for (const matcher = regex.matcher(text); matcher.find();) {
    if (matcher.end() === matcher.start()) return "it matches the empty text";
    places.push([matcher.start(), matcher.end()]);
    if (places.length > MOST_MATCHES) return `it matches more than ${MOST_MATCHES} times`;
    await limit.spend((text.length - matcher.end()) * regex.programSize());
    if (limit.expired) return "it takes too long";
  }
  return places;
}

/** Limits of one replacement. */
export interface EditBounds {
  /** Maximum length of the edited text. A text with more characters also has more bytes. */
  readonly maxBytes: number;
  readonly work: WorkLimit;
}

/** Returns start and end of each match, or the reason why a pattern can't be used. */
async function placesOf(
  text: string,
  { find, regex }: Replacement,
  work: WorkLimit,
): Promise<readonly (readonly [number, number])[] | string> {
  if (regex !== true)
    return (await positionsOf(text, find, work)).map((at) => [at, at + find.length] as const);
  const compiled = await compileRegex(find);
  return compiled.ok ? matchesOf(text, compiled.regex, work) : compiled.problem;
}

/** Applies one replacement unless its result is too large. `path` is used in messages. */
export async function replaceText(
  text: string,
  edit: Replacement,
  path: string,
  { maxBytes, work }: EditBounds,
): Promise<Edited> {
  if (edit.find === "") return { ok: false, problem: "find_replace requires 'find' to be set" };
  const places = await placesOf(text, edit, work);
  if (typeof places === "string") return { ok: false, problem: `Invalid regex pattern: ${places}` };
  const what = edit.regex === true ? "Pattern" : "Text";
  if (places.length === 0) return { ok: false, problem: `${what} not found in file: ${path}` };
  if (places.length > 1 && edit.replaceAll !== true) {
    const problem = `${what} found ${places.length} times in file: ${path}. Give more of the text around it so that it is found once, or set replaceAll to true.`;
    return { ok: false, problem };
  }
  const length = places.reduce(
    (sum, [start, end]) => sum + edit.content.length - (end - start),
    text.length,
  );
  if (length > maxBytes) {
    const problem = `File is too large: ${path} would have ${length} characters, and at most ${maxBytes} bytes are allowed`;
    return { ok: false, problem };
  }
  const parts: string[] = [];
  let position = 0;
  for (const [start, end] of places) {
    parts.push(text.slice(position, start), edit.content);
    position = end;
  }
  return { ok: true, text: parts.join("") + text.slice(position) };
}
