import type { RE2JS } from "re2js";
import type { WorkLimit } from "./work-limit.js";
import { longestText } from "./regex.js";

/** A line that matches, or one of its context lines. */
export interface FoundLine {
  readonly file: string;
  /** Line number, counted from 1. */
  readonly line: number;
  readonly text: string;
  readonly isMatch: boolean;
}

const LONGEST_SHOWN = 500;

function shownLine(text: string): string {
  return text.length > LONGEST_SHOWN
    ? `${text.slice(0, LONGEST_SHOWN)}... (${text.length} characters)`
    : text;
}

/**
 * Returns the indexes, counted from 0, of at most `most` matching lines. Also returns the number of
 * lines that are too long to search. Searching only a part of a line could give a false match at
 * its end.
 */
async function matchingLines(
  lines: readonly string[],
  regex: RE2JS,
  most: number,
  limit: WorkLimit,
): Promise<{ readonly found: number[]; readonly tooLong: number }> {
  const found: number[] = [];
  const longest = longestText(regex);
  const size = regex.programSize();
  let tooLong = 0;
  for (const [i, line] of lines.entries()) {
    if (found.length === most || limit.expired) break;
    if (line.length > longest) tooLong++;
    else {
      if (regex.test(line)) found.push(i);
      await limit.spend(100 + line.length * size);
    }
  }
  return { found, tooLong };
}

/**
 * Searches a text line by line. Returns matches with `context` lines around them, in file order.
 */
export async function searchText(
  file: string,
  text: string,
  regex: RE2JS,
  o: { readonly context: number; readonly most: number; readonly limit: WorkLimit },
): Promise<{ readonly found: readonly FoundLine[]; readonly tooLong: number }> {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const { found: matches, tooLong } = await matchingLines(lines, regex, o.most, o.limit);
  const isMatch = new Set(matches);
  const kept = new Set(
    matches.flatMap((i) => Array.from({ length: 2 * o.context + 1 }, (_, n) => i - o.context + n)),
  );
  const found = [...kept]
    .filter((i) => i >= 0 && i < lines.length)
    .sort((a, b) => a - b)
    .map((i) => ({ file, line: i + 1, text: shownLine(lines[i] ?? ""), isMatch: isMatch.has(i) }));
  return { found, tooLong };
}

/**
 * Formats `file:line:text` for matches and `file-line-text` for context lines. `--` separates
 * blocks that are not adjacent.
 */
export function renderFound(found: readonly FoundLine[], context: number): string[] {
  return found.flatMap(({ file, line, text, isMatch }, i) => {
    const previous = found[i - 1];
    const gap =
      context > 0 &&
      previous !== undefined &&
      (previous.file !== file || previous.line !== line - 1);
    const mark = isMatch ? ":" : "-";
    return [...(gap ? ["--"] : []), `${file}${mark}${line}${mark}${text}`];
  });
}
