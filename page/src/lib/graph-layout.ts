import type { GraphEdge, GraphModel } from "./graph-model.js";
import {
  layoutInLevels,
  type Direction,
  type Layout,
  type LayoutEdge,
  type LayoutNode,
} from "./layered-layout.js";
import type { Point } from "./layered-order.js";

export interface Rect extends Point {
  readonly width: number;
  readonly height: number;
}

/**
 * An edge with its intermediate points. An edge that leads back or within a level has no points.
 */
export interface Wire {
  readonly edge: GraphEdge;
  readonly points: readonly Point[] | undefined;
}

export interface GraphLayout {
  readonly direction: Direction;
  readonly nodes: ReadonlyMap<string, Rect>;
  readonly boxes: ReadonlyMap<string, Rect>;
  readonly wires: readonly Wire[];
  readonly width: number;
  readonly height: number;
}

/** The size of a node, and the gaps between nodes by direction. */
export interface NodeShape {
  readonly width: number;
  readonly height: number;
  readonly gaps: Readonly<
    Record<Direction, { readonly levelGap: number; readonly nodeGap: number }>
  >;
}

/** A task with its state, agent and figures. */
const CARD: NodeShape = {
  width: 212,
  height: 76,
  gaps: { down: { levelGap: 34, nodeGap: 26 }, right: { levelGap: 52, nodeGap: 20 } },
};
/** A node that shows only the name of a task. */
export const NAME_ONLY: NodeShape = {
  width: 116,
  height: 28,
  gaps: { down: { levelGap: 22, nodeGap: 14 }, right: { levelGap: 26, nodeGap: 12 } },
};
/** Space in a box: for its title on top, and for edges that lead back at its side. */
const PAD = { top: 34, side: 14, bottom: 14, back: 26 } as const;
/** Space for edges of a state machine that lead back. */
const BACK_ROOM = 90;
/** Labels of transitions need longer edges. */
const LABEL_GAP = 34;

/** Places nodes and boxes. A box has a separate layout and is placed like a single node. */
export function layoutGraph(
  model: GraphModel,
  direction: Direction,
  shape: NodeShape = CARD,
): GraphLayout {
  const hasLabels = model.edges.some(({ kind }) => kind === "transition");
  const { levelGap, nodeGap } = shape.gaps[direction];
  const sized = ({ id }: { readonly id: string }): LayoutNode => ({
    id,
    width: shape.width,
    height: shape.height,
  });
  const gaps = {
    direction,
    nodeGap,
    levelGap: hasLabels ? levelGap + LABEL_GAP * (direction === "right" ? 3 : 1) : levelGap,
  };
  const holder = new Map(model.nodes.map(({ id, box }) => [id, box ?? id]));
  for (const { id } of model.boxes) holder.set(id, id);
  const inner = new Map<string, Layout>();
  const outerNodes: LayoutNode[] = [];
  for (const { id } of model.boxes) {
    const nodes = model.nodes.filter(({ box }) => box === id).map(sized);
    const ids = new Set(nodes.map((node) => node.id));
    const edges = model.edges.filter(({ from, to }) => ids.has(from) && ids.has(to));
    const layout = layoutInLevels(nodes, edges.filter(isForward), gaps);
    inner.set(id, layout);
    const back = edges.some(({ kind }) => kind === "repeat") ? PAD.back : 0;
    const [right, bottom] = direction === "down" ? [back, 0] : [0, back];
    outerNodes.push({
      id,
      width: Math.max(layout.width + 2 * PAD.side + right, shape.width),
      height: layout.height + PAD.top + PAD.bottom + bottom,
    });
  }
  outerNodes.push(...model.nodes.filter(({ box }) => box === undefined).map(sized));
  const outerEdges = linksOfHolders(model.edges, holder);
  const outer = layoutInLevels(outerNodes, [...outerEdges.values()], {
    ...gaps,
    levels: model.start === undefined ? undefined : levelsFrom(model.start, outerNodes, outerEdges),
  });
  return assemble({ model, direction, shape, inner, outer, outerNodes, outerEdges, holder });
}

const isForward = ({ kind }: GraphEdge): boolean => kind !== "repeat";

const pairKey = (from: string, to: string): string => `${from}\0${to}`;

/** Returns the edges between nodes that are placed together, once for each pair. */
function linksOfHolders(
  edges: readonly GraphEdge[],
  holder: ReadonlyMap<string, string>,
): ReadonlyMap<string, LayoutEdge> {
  const links = new Map<string, LayoutEdge>();
  for (const edge of edges) {
    const [from, to] = [holder.get(edge.from), holder.get(edge.to)];
    if (from !== undefined && to !== undefined && from !== to && isForward(edge))
      links.set(pairKey(from, to), { from, to });
  }
  return links;
}

/**
 * Returns the number of transitions from the first state to each state. Unreachable states are
 * last.
 */
function levelsFrom(
  start: string,
  nodes: readonly LayoutNode[],
  edges: ReadonlyMap<string, LayoutEdge>,
): ReadonlyMap<string, number> {
  const levels = new Map([[start, 0]]);
  for (const [id, level] of levels)
    // The list grows during the iteration.
    for (const { from, to } of edges.values())
      if (from === id && !levels.has(to)) levels.set(to, level + 1);
  const last = Math.max(...levels.values());
  for (const { id } of nodes) if (!levels.has(id)) levels.set(id, last + 1);
  return levels;
}

interface Parts {
  readonly model: GraphModel;
  readonly direction: Direction;
  readonly shape: NodeShape;
  readonly inner: ReadonlyMap<string, Layout>;
  readonly outer: Layout;
  readonly outerNodes: readonly LayoutNode[];
  readonly outerEdges: ReadonlyMap<string, LayoutEdge>;
  readonly holder: ReadonlyMap<string, string>;
}

function assemble(parts: Parts): GraphLayout {
  const { model, direction, shape, inner, outer, outerNodes, outerEdges, holder } = parts;
  const nodes = new Map<string, Rect>();
  const boxes = new Map<string, Rect>();
  const offsets = new Map<string, Point>();
  for (const { id, width, height } of outerNodes) {
    const place = outer.places.get(id) ?? { x: 0, y: 0 };
    const layout = inner.get(id);
    if (layout === undefined) {
      nodes.set(id, { ...place, width, height });
      continue;
    }
    boxes.set(id, { ...place, width, height });
    const offset = { x: place.x + PAD.side, y: place.y + PAD.top };
    offsets.set(id, offset);
    for (const [part, { x, y }] of layout.places)
      nodes.set(part, {
        x: x + offset.x,
        y: y + offset.y,
        width: shape.width,
        height: shape.height,
      });
  }
  const outerRoutes = new Map([...outerEdges.keys()].map((key, i) => [key, outer.routes[i]]));
  const innerRoutes = routesInBoxes(model, inner, offsets);
  const wires = model.edges.flatMap((edge): readonly Wire[] => {
    const [from, to] = [holder.get(edge.from), holder.get(edge.to)];
    if (from === undefined || to === undefined) return [];
    if (from === to) return [{ edge, points: innerRoutes.get(pairKey(edge.from, edge.to)) }];
    return [{ edge, points: isForward(edge) ? outerRoutes.get(pairKey(from, to)) : undefined }];
  });
  const hasBack = wires.some(
    ({ edge, points }) => points === undefined && edge.kind === "transition",
  );
  const [right, bottom] = direction === "down" ? [BACK_ROOM, 0] : [0, BACK_ROOM];
  return {
    direction,
    nodes,
    boxes,
    wires,
    width: outer.width + (hasBack ? right : 0),
    height: outer.height + (hasBack ? bottom : 0),
  };
}

/** The points of edges within boxes, by the ids of their nodes. */
function routesInBoxes(
  model: GraphModel,
  inner: ReadonlyMap<string, Layout>,
  offsets: ReadonlyMap<string, Point>,
): ReadonlyMap<string, readonly Point[] | undefined> {
  const routes = new Map<string, readonly Point[] | undefined>();
  for (const [box, layout] of inner) {
    const { x: dx, y: dy } = offsets.get(box) ?? { x: 0, y: 0 };
    // As in `layoutGraph`: the order assigns routes to edges.
    model.edges
      .filter(
        (edge) => isForward(edge) && layout.places.has(edge.from) && layout.places.has(edge.to),
      )
      .forEach(({ from, to }, i) => {
        const points = layout.routes[i]?.map(({ x, y }) => ({ x: x + dx, y: y + dy }));
        routes.set(pairKey(from, to), points);
      });
  }
  return routes;
}

/**
 * Computes the layouts of both directions. Returns the layout with the larger scale in a window of
 * this size.
 */
export function fittingLayout(
  model: GraphModel,
  window: { readonly width: number; readonly height: number },
  shape?: NodeShape,
): GraphLayout {
  const [down, right] = [layoutGraph(model, "down", shape), layoutGraph(model, "right", shape)];
  return scaleToFit(right, window) > scaleToFit(down, window) * 1.1 ? right : down;
}

/** Returns the scale at which a drawing fits into a window, at most 1. */
export function scaleToFit(
  drawing: { readonly width: number; readonly height: number },
  window: { readonly width: number; readonly height: number },
): number {
  return Math.min(
    1,
    window.width / Math.max(1, drawing.width),
    window.height / Math.max(1, drawing.height),
  );
}
