import type { Cell, Layers } from "./layered-order.js";

const PASSES = 12;
/** Weight of straight long edges relative to centred nodes. */
const CHAIN_WEIGHT = 8;

/**
 * Returns the middle of each cell across the levels: near its neighbours, and at least `gap` from
 * the next cell.
 */
export function placeCells({ cells, levels }: Layers, gap: number): readonly number[] {
  const middles = new Array<number>(cells.length).fill(0);
  for (const level of levels) {
    let end = 0;
    for (const number of level) {
      const { breadth } = cellAt(cells, number);
      middles[number] = end + breadth / 2;
      end += breadth + gap;
    }
    const shift = (end - gap) / 2; // every level is centred at 0
    for (const number of level) middles[number] = (middles[number] ?? 0) - shift;
  }
  for (let pass = 0; pass < PASSES; pass++) {
    const isDown = pass % 2 === 0;
    for (let i = 0; i < levels.length; i++) {
      const level = levels[isDown ? i : levels.length - 1 - i] ?? [];
      const near = pass >= PASSES - 2 ? "both" : isDown ? "before" : "behind";
      placeLevel(level, cells, middles, { near, gap });
    }
  }
  const first = Math.min(...cells.map(({ breadth }, i) => (middles[i] ?? 0) - breadth / 2));
  return middles.map((middle) => middle - first);
}

function cellAt(cells: readonly Cell[], number: number): Cell {
  const cell = cells[number];
  if (cell === undefined) throw new RangeError(`There is no cell ${number}`);
  return cell;
}

/** Cells that touch each other and are moved together. */
interface Block {
  readonly first: number;
  weight: number;
  /** The sum of the desired positions of its cells, minus their distances from the first cell. */
  sum: number;
}

/**
 * Places the cells of a level as near to their desired positions as their order and the gaps allow.
 * Minimises the squares of the distances by pooling adjacent cells that collide.
 */
function placeLevel(
  level: readonly number[],
  cells: readonly Cell[],
  middles: number[],
  { near, gap }: { readonly near: "before" | "behind" | "both"; readonly gap: number },
): void {
  const distances: number[] = [];
  const blocks: Block[] = [];
  level.forEach((number, i) => {
    const cell = cellAt(cells, number);
    const previous = level[i - 1];
    const step =
      previous === undefined ? 0 : (cellAt(cells, previous).breadth + cell.breadth) / 2 + gap;
    const distance = (distances[i - 1] ?? 0) + step;
    distances.push(distance);
    const { want, weight } = wanted(number, cells, middles, near);
    blocks.push({ first: i, weight, sum: (want - distance) * weight });
    for (;;) {
      const [before, last] = blocks.slice(-2);
      if (before === undefined || last === undefined) break;
      if (before.sum / before.weight <= last.sum / last.weight) break;
      before.weight += last.weight;
      before.sum += last.sum;
      blocks.pop();
    }
  });
  blocks.forEach(({ first, sum, weight }, i) => {
    const end = blocks[i + 1]?.first ?? level.length;
    for (let j = first; j < end; j++) {
      const number = level[j];
      if (number !== undefined) middles[number] = sum / weight + (distances[j] ?? 0);
    }
  });
}

function wanted(
  number: number,
  cells: readonly Cell[],
  middles: readonly number[],
  near: "before" | "behind" | "both",
): { readonly want: number; readonly weight: number } {
  const cell = cellAt(cells, number);
  const others = near === "both" ? [...cell.before, ...cell.behind] : cell[near];
  if (others.length === 0) return { want: middles[number] ?? 0, weight: 0.1 };
  let sum = 0;
  let weight = 0;
  for (const other of others) {
    const isChain = cell.id === undefined && cellAt(cells, other).id === undefined;
    const pull = isChain ? CHAIN_WEIGHT : 1;
    sum += (middles[other] ?? 0) * pull;
    weight += pull;
  }
  return { want: sum / weight, weight };
}
