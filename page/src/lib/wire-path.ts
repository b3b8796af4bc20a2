import type { Rect } from "./graph-layout.js";
import type { Direction } from "./layered-layout.js";
import type { Point } from "./layered-order.js";

export interface WirePath {
  /** The `d` of a path. */
  readonly d: string;
  /** The position of the label. */
  readonly label: Point;
}

/**
 * Draws an edge from one node to another through the given points, two for each passed level.
 * Without points, the edge leads back in an arc.
 */
export function wirePath(
  from: Rect,
  to: Rect,
  points: readonly Point[] | undefined,
  direction: Direction,
): WirePath {
  if (points === undefined) return bow(from, to, direction);
  const isDown = direction === "down";
  const start = isDown ? middleBottom(from) : middleRight(from);
  const end = isDown ? middleTop(to) : middleLeft(to);
  const all = [start, ...points, end];
  let d = `M${start.x} ${start.y}`;
  for (let i = 1; i < all.length; i++) {
    const [a, b] = [all[i - 1] ?? start, all[i] ?? end];
    // Curves lead from level to level. Between the two points of a level, the edge is straight.
    d += i % 2 === 0 ? `L${b.x} ${b.y}` : curve(a, b, isDown);
  }
  const first = all[1] ?? end;
  return { d, label: { x: (start.x + first.x) / 2, y: (start.y + first.y) / 2 } };
}

function curve(a: Point, b: Point, isDown: boolean): string {
  const [mx, my] = [(a.x + b.x) / 2, (a.y + b.y) / 2];
  return isDown
    ? `C${a.x} ${my} ${b.x} ${my} ${b.x} ${b.y}`
    : `C${mx} ${a.y} ${mx} ${b.y} ${b.x} ${b.y}`;
}

/** The distance of an arc from the nodes. */
const BOW = 64;

/** Draws an arc at the side of the nodes. */
function bow(from: Rect, to: Rect, direction: Direction): WirePath {
  if (direction === "down") {
    const [a, b] = [shifted(middleRight(from), 0, 10), shifted(middleRight(to), 0, -10)];
    const x = Math.max(a.x, b.x) + Math.min(BOW, 22 + Math.abs(a.y - b.y) / 12);
    return {
      d: `M${a.x} ${a.y}C${x} ${a.y} ${x} ${b.y} ${b.x} ${b.y}`,
      label: { x: x - 6, y: a.y * 0.3 + b.y * 0.7 },
    };
  }
  const [a, b] = [shifted(middleBottom(from), 24, 0), shifted(middleBottom(to), -24, 0)];
  const y = Math.max(a.y, b.y) + Math.min(BOW, 22 + Math.abs(a.x - b.x) / 12);
  return {
    d: `M${a.x} ${a.y}C${a.x} ${y} ${b.x} ${y} ${b.x} ${b.y}`,
    label: { x: (a.x + b.x) / 2, y: y - 6 },
  };
}

const shifted = ({ x, y }: Point, dx: number, dy: number): Point => ({ x: x + dx, y: y + dy });
const middleBottom = ({ x, y, width, height }: Rect): Point => ({
  x: x + width / 2,
  y: y + height,
});
const middleTop = ({ x, y, width }: Rect): Point => ({ x: x + width / 2, y });
const middleLeft = ({ x, y, height }: Rect): Point => ({ x, y: y + height / 2 });
const middleRight = ({ x, y, width, height }: Rect): Point => ({ x: x + width, y: y + height / 2 });
