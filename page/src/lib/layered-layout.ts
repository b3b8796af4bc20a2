import { orderLevels, type Cell, type Layers, type Point } from "./layered-order.js";
import { placeCells } from "./layered-places.js";

export interface LayoutNode {
  readonly id: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

export interface LayoutEdge {
  readonly from: string;
  readonly to: string;
}

/** `down`: levels from top to bottom. `right`: levels from left to right. */
export type Direction = "down" | "right";

export interface LayoutOptions {
  readonly direction: Direction;
  /** Pixels between levels, and between nodes of a level. */
  readonly levelGap: number;
  readonly nodeGap: number;
  /** The level of each node. Default: the length of its longest path from the first nodes. */
  readonly levels?: ReadonlyMap<string, number> | undefined;
}

export interface Layout {
  /** The left upper corner of each node. */
  readonly places: ReadonlyMap<string, Point>;
  /**
   * The points of each edge between its nodes. `undefined` for an edge that does not lead to a
   * later level.
   */
  readonly routes: readonly (readonly Point[] | undefined)[];
  readonly width: number;
  readonly height: number;
}

const collator = new Intl.Collator("en", { numeric: true });
/** Orders ids. Compares numbers in ids as numbers. */
export const byId = (a: string, b: string): number => collator.compare(a, b) || (a < b ? -1 : 1);

/** Space across the levels for an edge that passes a level. */
const PASSAGE = 14;

/**
 * Places nodes in levels. The order of nodes and edges does not affect the positions. Edges of
 * unknown nodes are omitted.
 */
export function layoutInLevels(
  nodes: readonly LayoutNode[],
  edges: readonly LayoutEdge[],
  o: LayoutOptions,
): Layout {
  const sorted = [...nodes].sort((a, b) => byId(a.id, b.id));
  const levels = normalised(o.levels ?? longestWays(sorted, edges));
  const { layers, passages } = layersOf(sorted, edges, levels, o.direction);
  const ordered: Layers = { cells: layers.cells, levels: orderLevels(layers) };
  const middles = placeCells(ordered, o.nodeGap);
  const starts: number[] = [];
  const depths = ordered.levels.map((level) =>
    Math.max(0, ...level.map((cell) => layers.cells[cell]?.depth ?? 0)),
  );
  depths.reduce((start, depth) => {
    starts.push(start);
    return start + depth + o.levelGap;
  }, 0);
  const at = (across: number, along: number): Point =>
    o.direction === "down" ? { x: across, y: along } : { x: along, y: across };
  const places = new Map<string, Point>();
  layers.cells.forEach(({ id, breadth, level }, i) => {
    if (id !== undefined)
      places.set(id, at(Math.round((middles[i] ?? 0) - breadth / 2), starts[level] ?? 0));
  });
  const routes = passages.map((cells) =>
    cells?.flatMap((cell) => {
      const level = layers.cells[cell]?.level ?? 0;
      const [across, along] = [Math.round(middles[cell] ?? 0), starts[level] ?? 0];
      return [at(across, along), at(across, along + (depths[level] ?? 0))];
    }),
  );
  const across = Math.max(
    0,
    ...layers.cells.map(({ breadth }, i) => (middles[i] ?? 0) + breadth / 2),
  );
  const along = (starts.at(-1) ?? 0) + (depths.at(-1) ?? 0);
  const { x: width, y: height } = at(Math.ceil(across), along);
  return { places, routes, width, height };
}

/** Returns the levels renumbered from 0 without a gap. */
function normalised(levels: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const used = [...new Set(levels.values())].sort((a, b) => a - b);
  const places = new Map(used.map((level, i) => [level, i]));
  return new Map([...levels].map(([id, level]) => [id, places.get(level) ?? 0]));
}

/** Returns the longest path to each node. In a cycle, the node with the first id is the start. */
function longestWays(
  nodes: readonly LayoutNode[],
  edges: readonly LayoutEdge[],
): ReadonlyMap<string, number> {
  const levels = new Map<string, number>();
  const missing = new Map(nodes.map(({ id }) => [id, 0]));
  const targets = new Map(nodes.map(({ id }) => [id, [] as string[]]));
  for (const { from, to } of edges) {
    const count = missing.get(to);
    if (count === undefined || !missing.has(from) || from === to) continue;
    missing.set(to, count + 1);
    targets.get(from)?.push(to);
  }
  const level = new Map<string, number>();
  const ready = nodes.map(({ id }) => id).filter((id) => missing.get(id) === 0);
  const take = (id: string): void => {
    const own = level.get(id) ?? 0;
    levels.set(id, own);
    missing.delete(id);
    for (const to of targets.get(id) ?? []) {
      const left = missing.get(to);
      if (left === undefined) continue; // the edge leads back
      level.set(to, Math.max(level.get(to) ?? 0, own + 1));
      missing.set(to, left - 1);
      if (left === 1) ready.push(to);
    }
  };
  let next = 0;
  while (missing.size > 0) {
    const id = ready.shift();
    if (id !== undefined) {
      if (missing.has(id)) take(id);
      continue;
    }
    while (!missing.has(nodes[next]?.id ?? "")) next++;
    take(nodes[next]?.id ?? "");
  }
  return levels;
}

/** Returns the cells of nodes, and of the levels that edges pass. */
function layersOf(
  nodes: readonly LayoutNode[],
  edges: readonly LayoutEdge[],
  levels: ReadonlyMap<string, number>,
  direction: Direction,
): { readonly layers: Layers; readonly passages: readonly (readonly number[] | undefined)[] } {
  const cells: Cell[] = [];
  const rows: number[][] = [];
  const add = (cell: Omit<Cell, "before" | "behind">): number => {
    const number = cells.push({ ...cell, before: [], behind: [] }) - 1;
    (rows[cell.level] ??= []).push(number);
    return number;
  };
  const numbers = new Map(
    nodes.map(({ id, width, height }) => {
      const [breadth, depth] = direction === "down" ? [width, height] : [height, width];
      return [id, add({ id, breadth, depth, level: levels.get(id) ?? 0 })] as const;
    }),
  );
  const link = (from: number, to: number): void => {
    cells[from]?.behind.push(to);
    cells[to]?.before.push(from);
  };
  const passages = new Array<readonly number[] | undefined>(edges.length).fill(undefined);
  // Nodes are numbered in the order of their ids.
  const inOrder = edges
    .map(({ from, to }, i) => ({ start: numbers.get(from) ?? -1, end: numbers.get(to) ?? -1, i }))
    .filter(({ start, end }) => start >= 0 && end >= 0)
    .sort((a, b) => a.start - b.start || a.end - b.end);
  for (const { start, end, i } of inOrder) {
    const [first = 0, last = 0] = [cells[start]?.level, cells[end]?.level];
    if (last <= first) continue;
    const passage: number[] = [];
    for (let level = first + 1; level < last; level++)
      passage.push(add({ id: undefined, breadth: PASSAGE, depth: 0, level }));
    [start, ...passage, end].reduce((a, b) => {
      link(a, b);
      return b;
    });
    passages[i] = passage;
  }
  for (let level = 0; level < rows.length; level++) rows[level] ??= [];
  return { layers: { cells, levels: rows }, passages };
}
