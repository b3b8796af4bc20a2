/** Lines that were replaced by others; counted from 0, `oldEnd` and `newEnd` not included. */
export interface LineChange {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** Beyond so many differences the least set is not searched for: what lies between the first and the last one counts as replaced. */
const LARGEST_DISTANCE = 1_000;
const MOST_STEPS = 2_000_000;

/** The lines of a text with what ends them, so that a missing end of the last one is a difference. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The least set of changes that makes one list of lines into another. */
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
  if (a.length === 0 && b.length === 0) return [];
  const whole = { oldStart: 0, oldEnd: a.length, newStart: 0, newEnd: b.length };
  const changes = a.length === 0 || b.length === 0 ? [whole] : (shortestEdit(a, b) ?? [whole]);
  return changes.map((c) => ({
    oldStart: c.oldStart + head,
    oldEnd: c.oldEnd + head,
    newStart: c.newStart + head,
    newEnd: c.newEnd + head,
  }));
}

/** Myers, "An O(ND) difference algorithm" (1986). `undefined` when it takes too long. */
function shortestEdit(a: readonly string[], b: readonly string[]): LineChange[] | undefined {
  const limit = Math.min(a.length + b.length, LARGEST_DISTANCE);
  const middle = limit + 1;
  const furthest = new Int32Array(2 * limit + 3);
  const trace: Int32Array[] = [];
  let steps = 0;
  for (let d = 0; d <= limit; d++) {
    trace.push(furthest.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down =
        k === -d || (k !== d && at(furthest, middle + k - 1) < at(furthest, middle + k + 1));
      let x = down ? at(furthest, middle + k + 1) : at(furthest, middle + k - 1) + 1;
      const start = x;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      furthest[middle + k] = x;
      steps += x - start + 1;
      if (x >= a.length && x - k >= b.length) return backtrack(trace, a.length, b.length);
    }
    if (steps > MOST_STEPS) return undefined;
  }
  return undefined;
}

function at(numbers: Int32Array, index: number): number {
  return numbers[index] ?? 0;
}

function backtrack(
  trace: readonly Int32Array[],
  oldLength: number,
  newLength: number,
): LineChange[] {
  const changes: LineChange[] = [];
  let [x, y] = [oldLength, newLength];
  for (let d = trace.length - 1; d > 0; d--) {
    const furthest = trace[d] ?? new Int32Array();
    const valueAt = (k: number): number => at(furthest, k + d + 1);
    const k = x - y;
    const previous = k === -d || (k !== d && valueAt(k - 1) < valueAt(k + 1)) ? k + 1 : k - 1;
    const [fromX, fromY] = [valueAt(previous), valueAt(previous) - previous];
    const same = Math.min(x - fromX, y - fromY); // lines that both have, after the changed one
    prepend(changes, { oldStart: fromX, oldEnd: x - same, newStart: fromY, newEnd: y - same });
    [x, y] = [fromX, fromY];
  }
  return changes;
}

function prepend(changes: LineChange[], change: LineChange): void {
  const [next] = changes;
  if (next?.oldStart !== change.oldEnd || next.newStart !== change.newEnd) changes.unshift(change);
  else
    changes[0] = {
      oldStart: change.oldStart,
      oldEnd: next.oldEnd,
      newStart: change.newStart,
      newEnd: next.newEnd,
    };
}

/** How many lines a set of changes adds and takes away. */
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

/** Changes so near to each other that their surroundings touch, in groups. */
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

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.map((line) =>
    line.endsWith("\n") ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`,
  );
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
  const lines: string[] = [];
  let position = first.oldStart - lead;
  for (const change of hunk) {
    lines.push(...marked(" ", before.slice(position, change.oldStart)));
    lines.push(
      ...marked("-", before.slice(change.oldStart, change.oldEnd)),
      ...marked("+", after.slice(change.newStart, change.newEnd)),
    );
    position = change.oldEnd;
  }
  lines.push(...marked(" ", before.slice(position, position + trail)));
  const old = range(first.oldStart - lead, last.oldEnd + trail - first.oldStart + lead);
  const now = range(first.newStart - lead, last.newEnd + trail - first.newStart + lead);
  return `@@ -${old} +${now} @@\n${lines.join("")}`;
}

/** The changes of a file as a unified diff; empty when there are none. */
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
