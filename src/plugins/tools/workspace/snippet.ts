import type { LineChange } from "../shared/line-diff.js";

const CONTEXT = 3;
const MOST_PLACES = 5;
const MOST_LINES = 40;
const LONGEST_LINE = 200;

function numberedLines(line: string, number: number): string {
  const text = line.replace(/\r?\n$/, "");
  return `${String(number).padStart(4)} | ${text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}...` : text}`;
}

/**
 * Formats the changed lines with their new numbers and some context. Long parts are cut in the
 * middle.
 */
export function snippetOf(after: readonly string[], changes: readonly LineChange[]): string {
  const parts = changes.slice(0, MOST_PLACES).map(({ newStart, newEnd }) => {
    const from = Math.max(newStart - CONTEXT, 0);
    const lines = after
      .slice(from, newEnd + CONTEXT)
      .map((line, i) => numberedLines(line, from + i + 1));
    if (lines.length <= MOST_LINES) return lines.join("\n");
    return [...lines.slice(0, MOST_LINES / 2), "  ...", ...lines.slice(-MOST_LINES / 2)].join("\n");
  });
  const rest = changes.length - parts.length;
  return [...parts, ...(rest > 0 ? [`(${rest} more place(s) changed)`] : [])].join("\n  ...\n");
}
