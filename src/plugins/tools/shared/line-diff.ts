import type { ChangeObject } from "diff";
import { diffArrays } from "./diff-vendor.js";

/** Replaced lines, counted from 0. `oldEnd` and `newEnd` are exclusive. */
export interface LineChange {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** Limits of the search for the minimal set of changes, in changed lines and in comparisons. */
const LARGEST_DISTANCE = 1_000;
const MOST_COMPARISONS = 2_000_000;

/**
 * Splits a text into lines with their line ends, so that a missing last line end is a difference.
 */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/**
 * Returns the minimal set of changes between two lists of lines. Beyond the search limits,
 * everything between the first and the last difference counts as replaced.
 */
export function diffLines(before: readonly string[], after: readonly string[]): LineChange[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (
    tail < shorter - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++;
  const a = before.slice(head, before.length - tail);
  const b = after.slice(head, after.length - tail);
  return changesIn(editScript(a, b), head);
}

type EditScript = readonly Pick<ChangeObject<unknown>, "count" | "added" | "removed">[];

/** Returns the edit steps from one list to the other. */
function editScript(a: readonly string[], b: readonly string[]): EditScript {
  const replaced: EditScript = [
    { count: a.length, added: false, removed: true },
    { count: b.length, added: true, removed: false },
  ];
  if (a.length === 0 || b.length === 0) return replaced;
  let comparisons = 0;
  const comparator = (left: string, right: string): boolean =>
    ++comparisons <= MOST_COMPARISONS && left === right;
  const script = diffArrays([...a], [...b], { maxEditLength: LARGEST_DISTANCE, comparator });
  return script === undefined || comparisons > MOST_COMPARISONS ? replaced : script;
}

/** Merges adjacent steps into changes. `start` is the number of lines before the first step. */
function changesIn(script: EditScript, start: number): LineChange[] {
  const changes: LineChange[] = [];
  let [oldEnd, newEnd] = [start, start];
  let isOpen = false;
  for (const { count, added, removed } of script) {
    const [oldStart, newStart] = [oldEnd, newEnd];
    if (!added) oldEnd += count;
    if (!removed) newEnd += count;
    const isSame = !added && !removed;
    if (!isSame && count > 0) {
      const before = isOpen ? changes.pop() : undefined;
      changes.push({ oldStart, newStart, ...before, oldEnd, newEnd });
    }
    isOpen = !isSame;
  }
  return changes;
}

/** Counts the lines that a set of changes adds and removes. */
export function countLines(changes: readonly LineChange[]): {
  readonly linesAdded: number;
  readonly linesRemoved: number;
} {
  return {
    linesAdded: changes.reduce((sum, { newStart, newEnd }) => sum + newEnd - newStart, 0),
    linesRemoved: changes.reduce((sum, { oldStart, oldEnd }) => sum + oldEnd - oldStart, 0),
  };
}

const CONTEXT = 3;

/** Groups changes whose context lines touch. */
function hunksOf(changes: readonly LineChange[]): LineChange[][] {
  const hunks: LineChange[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1);
    const end = last?.at(-1)?.oldEnd;
    if (last !== undefined && end !== undefined && change.oldStart - end <= 2 * CONTEXT)
      last.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function markedLines(mark: string, lines: readonly string[]): string {
  return lines
    .map((line) =>
      line.endsWith("\n") ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`,
    )
    .join("");
}

function range(start: number, length: number): string {
  return `${length === 0 ? start : start + 1},${length}`;
}

function hunkText(
  hunk: readonly LineChange[],
  before: readonly string[],
  after: readonly string[],
): string {
  const [first] = hunk;
  const last = hunk.at(-1);
  if (first === undefined || last === undefined) return "";
  const lead = Math.min(CONTEXT, first.oldStart);
  const trail = Math.min(CONTEXT, before.length - last.oldEnd);
  const parts: string[] = [];
  let position = first.oldStart - lead;
  for (const change of hunk) {
    parts.push(
      markedLines(" ", before.slice(position, change.oldStart)),
      markedLines("-", before.slice(change.oldStart, change.oldEnd)),
      markedLines("+", after.slice(change.newStart, change.newEnd)),
    );
    position = change.oldEnd;
  }
  parts.push(markedLines(" ", before.slice(position, position + trail)));
  const old = range(first.oldStart - lead, last.oldEnd + trail - first.oldStart + lead);
  const now = range(first.newStart - lead, last.newEnd + trail - first.newStart + lead);
  return `@@ -${old} +${now} @@\n${parts.join("")}`;
}

/** Formats the changes of a file as a unified diff. Returns an empty text if there are none. */
export function unifiedDiff(
  path: string,
  before: readonly string[],
  after: readonly string[],
  changes: readonly LineChange[],
): string {
  if (changes.length === 0) return "";
  return `--- a/${path}\n+++ b/${path}\n${hunksOf(changes)
    .map((hunk) => hunkText(hunk, before, after))
    .join("")}`;
}
