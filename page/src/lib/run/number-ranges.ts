/** Entries of a log that are fetched together: at most `limit` entries after number `after`. */
export interface NumberRange {
  readonly after: number;
  readonly limit: number;
}

/** Numbers with smaller distances are fetched together with the numbers between them. */
const CLOSE = 40;
const LONGEST = 500;

/**
 * Returns the fewest fetches for some numbers of entries, in ascending order. Returns only the last
 * `most` fetches.
 */
export function rangesOf(numbers: readonly number[], most: number): readonly NumberRange[] {
  const ranges: { first: number; last: number }[] = [];
  for (const n of numbers) {
    const open = ranges.at(-1);
    if (open !== undefined && n - open.last <= CLOSE && n - open.first < LONGEST) open.last = n;
    else ranges.push({ first: n, last: n });
  }
  return ranges
    .slice(-most)
    .map(({ first, last }) => ({ after: first - 1, limit: last - first + 1 }));
}
