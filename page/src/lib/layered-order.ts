/** A point of a drawing, in pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** An item of a level: a node, or the point at which a long edge crosses the level. */
export interface Cell {
  /** The id of the node. `undefined` for a point of an edge. */
  readonly id: string | undefined;
  /** The size across the levels. */
  readonly breadth: number;
  /** The size along the levels. */
  readonly depth: number;
  readonly level: number;
  /** Connected cells of the previous and of the next level. */
  readonly before: number[];
  readonly behind: number[];
}

/** Cells by their number, and the numbers of each level in their order. */
export interface Layers {
  readonly cells: readonly Cell[];
  readonly levels: readonly number[][];
}

const SWEEPS = 16;

/**
 * Orders the cells of each level to reduce crossings of edges. Equal cells always have the same
 * order.
 */
export function orderLevels({ cells, levels }: Layers): readonly number[][] {
  const place = new Array<number>(cells.length).fill(0);
  const note = (level: readonly number[]): void => level.forEach((cell, i) => (place[cell] = i));
  const order = levels.map((level) => [...level]);
  order.forEach(note);
  const wanted = new Float64Array(cells.length);
  let best = order.map((level) => [...level]);
  let fewest = crossings(cells, order, place);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const isDown = sweep % 2 === 0;
    for (let i = 0; i < order.length; i++) {
      const level = order[isDown ? i : order.length - 1 - i] ?? [];
      sortLevel(level, place, wanted, (cell) => cells[cell]?.[isDown ? "before" : "behind"] ?? []);
      note(level);
    }
    const count = crossings(cells, order, place);
    if (count >= fewest) continue;
    fewest = count;
    best = order.map((level) => [...level]);
  }
  return best;
}

/** Sorts by the mean position of the neighbours. A cell without neighbours keeps its position. */
function sortLevel(
  level: number[],
  place: readonly number[],
  wanted: Float64Array,
  neighbours: (cell: number) => readonly number[],
): void {
  level.forEach((cell, i) => {
    const near = neighbours(cell);
    let sum = 0;
    for (const other of near) sum += place[other] ?? 0;
    wanted[cell] = near.length === 0 ? i : sum / near.length;
  });
  level.sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
}

/** Returns the number of pairs of edges that cross. */
function crossings(
  cells: readonly Cell[],
  levels: readonly number[][],
  place: readonly number[],
): number {
  let count = 0;
  for (const [i, level] of levels.entries()) {
    const width = levels[i + 1]?.length ?? 0;
    if (width === 0) continue;
    const ends: number[] = [];
    for (const cell of level) {
      const behind = cells[cell]?.behind ?? [];
      if (behind.length === 1) ends.push(place[behind[0] ?? 0] ?? 0);
      else ends.push(...behind.map((other) => place[other] ?? 0).sort((a, b) => a - b));
    }
    count += inversions(ends, width);
  }
  return count;
}

/** Returns the number of pairs in the wrong order. Counts them with a binary indexed tree. */
function inversions(values: readonly number[], width: number): number {
  const tree = new Uint32Array(width + 1);
  let count = 0;
  for (let seen = 0; seen < values.length; seen++) {
    const value = values[seen] ?? 0;
    let atMost = 0;
    for (let i = value + 1; i > 0; i -= i & -i) atMost += tree[i] ?? 0;
    count += seen - atMost;
    for (let i = value + 1; i <= width; i += i & -i) tree[i] = (tree[i] ?? 0) + 1;
  }
  return count;
}
