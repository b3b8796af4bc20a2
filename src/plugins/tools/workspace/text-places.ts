import type { WorkLimit } from "./work-limit.js";

/** Number of characters between two checks of the limit. */
const STRIDE = 100_000;

/**
 * Returns, for each prefix of `find`, the length of its longest proper prefix that is also a
 * suffix.
 */
async function bordersOf(find: string, limit: WorkLimit): Promise<Int32Array> {
  const borders = new Int32Array(find.length);
  let length = 0;
  for (let i = 1; i < find.length; i++) {
    const char = find.charCodeAt(i);
    while (length > 0 && char !== find.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (char === find.charCodeAt(length)) length++;
    borders[i] = length;
    if (i % STRIDE === 0) await limit.spend(STRIDE);
  }
  return borders;
}

/**
 * Returns the positions of `find` in `text` without overlaps. Uses the Knuth-Morris-Pratt
 * algorithm, which is linear in both lengths. `indexOf` can take time proportional to their
 * product.
 * @throws the reason of the limit's signal
 */
export async function positionsOf(text: string, find: string, limit: WorkLimit): Promise<number[]> {
  const positions: number[] = [];
  if (find.length > text.length) return positions;
  const borders = await bordersOf(find, limit);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    while (length > 0 && char !== find.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (char === find.charCodeAt(length)) length++;
    if (length === find.length) {
      positions.push(i + 1 - length);
      length = 0;
    }
    if (i % STRIDE === 0) await limit.spend(STRIDE);
  }
  return positions;
}
