import type { RE2JS } from "re2js";
import type { WorkLimit } from "./work-limit.js";
import { compileRegex, longestText } from "./regex.js";
import { positionsOf } from "./text-places.js";

/** A replacement of what is found by something else. */
export interface Replacement {
  readonly find: string;
  readonly content: string;
  /** Whether `find` is a regular expression; what it is replaced by is text all the same. */
  readonly regex?: boolean | undefined;
  /** Whether all places are replaced; else there must be exactly one. */
  readonly replaceAll?: boolean | undefined;
}

/** The text after an edit, or what is wrong with the edit. */
export type Edited =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

/**
 * A file's text in the form in which it is edited, and back: without a byte order mark, and with `\n` at the end of lines where all of them end in `\r\n`.
 * A file in which both occur is edited as it is.
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

  /** A model's text, with the ends of line of this file. */
  adapt(text: string): string {
    return this.#isMixed ? text : text.replaceAll("\r\n", "\n");
  }

  /** The whole file out of its edited text. */
  restore(text: string): string {
    return this.#mark + (this.#isCrLf ? text.replaceAll("\n", "\r\n") : text);
  }
}

/** Replaces the lines from `start` to `end` (from 1, both included); no content takes them away. The end of the last line stays as it is. */
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

/** How often a pattern is tried on one file. */
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

/** What bounds one replacement. */
export interface EditBounds {
  /** Limit of the edited text's length; a text of more characters has more bytes, too. */
  readonly maxBytes: number;
  readonly work: WorkLimit;
}

/** Pairs of beginning and end, or the reason why a pattern can't be used. */
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

/** Makes one replacement, unless its result is too large. `path` is for the messages. */
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
