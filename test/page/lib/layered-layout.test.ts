import { expect } from "chai";
import fc from "fast-check";
import {
  layoutInLevels,
  type Direction,
  type Layout,
  type LayoutEdge,
  type LayoutNode,
} from "../../../page/src/lib/layered-layout.js";

const GAPS = { levelGap: 30, nodeGap: 20 };

const node = (id: string, width = 100, height = 40): LayoutNode => ({ id, width, height });
const edge = (from: string, to: string): LayoutEdge => ({ from, to });

/** A graph whose edges lead from earlier to later nodes. */
const acyclic = fc
  .record({
    sizes: fc.array(fc.tuple(fc.integer({ min: 10, max: 300 }), fc.integer({ min: 10, max: 90 })), {
      minLength: 1,
      maxLength: 30,
    }),
    ends: fc.array(fc.tuple(fc.nat(29), fc.nat(29)), { maxLength: 60 }),
    direction: fc.constantFrom<Direction>("down", "right"),
  })
  .map(({ sizes, ends, direction }) => ({
    nodes: sizes.map(([width, height], i) => node(`t-${i}`, width, height)),
    edges: ends.flatMap(([a, b]) => (a < b && b < sizes.length ? [edge(`t-${a}`, `t-${b}`)] : [])),
    direction,
  }));

/** Pairs of nodes whose rectangles have a point in common. */
function overlaps(nodes: readonly LayoutNode[], { places }: Layout): readonly string[] {
  const rects = nodes.map(({ id, width, height }) => ({
    id,
    width,
    height,
    ...(places.get(id) ?? { x: NaN, y: NaN }),
  }));
  return rects.flatMap((a, i) =>
    rects
      .slice(i + 1)
      .filter(
        (b) =>
          !(a.x + a.width <= b.x || b.x + b.width <= a.x) &&
          !(a.y + a.height <= b.y || b.y + b.height <= a.y),
      )
      .map((b) => `${a.id} ${b.id}`),
  );
}

describe("the layout in levels", () => {
  it("places a diamond on three levels with its middle tasks in one line", () => {
    const nodes = ["a", "b", "c", "d"].map((id) => node(id));
    const edges = [edge("a", "b"), edge("a", "c"), edge("b", "d"), edge("c", "d")];
    const { places, width, height } = layoutInLevels(nodes, edges, { direction: "down", ...GAPS });
    expect(Object.fromEntries(places)).to.deep.equal({
      a: { x: 60, y: 0 },
      b: { x: 0, y: 70 },
      c: { x: 120, y: 70 },
      d: { x: 60, y: 140 },
    });
    expect({ width, height }).to.deep.equal({ width: 220, height: 180 });
  });

  it("draws an edge over several levels next to the nodes of each", () => {
    const nodes = ["a", "b", "c"].map((id) => node(id));
    const edges = [edge("a", "b"), edge("b", "c"), edge("a", "c")];
    const { routes, places } = layoutInLevels(nodes, edges, { direction: "right", ...GAPS });
    expect(routes.slice(0, 2)).to.deep.equal([[], []]);
    const [enters, leaves] = routes[2] ?? [];
    const between = places.get("b") ?? { x: 0, y: 0 };
    expect([enters?.x, leaves?.x]).to.deep.equal([between.x, between.x + 100]);
    expect((enters?.y ?? 0) < between.y || (enters?.y ?? 0) > between.y + 40).to.equal(true);
  });

  it("untangles edges that cross in the order of the ids", () => {
    const nodes = ["a", "b", "x", "y"].map((id) => node(id));
    const { places } = layoutInLevels(nodes, [edge("a", "y"), edge("b", "x")], {
      direction: "down",
      ...GAPS,
    });
    const x = (id: string): number => places.get(id)?.x ?? NaN;
    expect([x("a") < x("b"), x("y") < x("x")]).to.deep.equal([true, true]);
  });

  it("places no two nodes at one position, and directs every edge forward", () => {
    fc.assert(
      fc.property(acyclic, ({ nodes, edges, direction }) => {
        const layout = layoutInLevels(nodes, edges, { direction, ...GAPS });
        expect(layout.places.size).to.equal(nodes.length);
        expect(overlaps(nodes, layout)).to.deep.equal([]);
        const along = direction === "down" ? "y" : "x";
        const size = direction === "down" ? "height" : "width";
        for (const [i, { from, to }] of edges.entries()) {
          const depth = nodes.find(({ id }) => id === from)?.[size] ?? NaN;
          const [a, b] = [layout.places.get(from)?.[along], layout.places.get(to)?.[along]];
          expect((a ?? NaN) + depth + GAPS.levelGap).to.be.at.most(b ?? NaN);
          expect(layout.routes[i]).not.to.equal(undefined);
        }
      }),
    );
  });

  it("stays within its reported size", () => {
    fc.assert(
      fc.property(acyclic, ({ nodes, edges, direction }) => {
        const { places, width, height } = layoutInLevels(nodes, edges, { direction, ...GAPS });
        for (const { id, width: w, height: h } of nodes) {
          const { x, y } = places.get(id) ?? { x: NaN, y: NaN };
          expect([x >= -1, y >= 0, x + w <= width + 1, y + h <= height + 1]).to.deep.equal([
            true,
            true,
            true,
            true,
          ]);
        }
      }),
    );
  });

  it("is the same for nodes and edges in any order", () => {
    fc.assert(
      fc.property(
        acyclic,
        fc.infiniteStream(fc.nat(1_000)),
        ({ nodes, edges, direction }, keys) => {
          const mixed = <T>(list: readonly T[]): readonly T[] =>
            list
              .map((item) => ({ item, key: Number(keys.next().value) }))
              .sort((a, b) => a.key - b.key)
              .map(({ item }) => item);
          const o = { direction, ...GAPS };
          const [one, other] = [
            layoutInLevels(nodes, edges, o),
            layoutInLevels(mixed(nodes), mixed(edges), o),
          ];
          for (const { id } of nodes)
            expect(other.places.get(id)).to.deep.equal(one.places.get(id));
        },
      ),
    );
  });

  it("breaks cycles, and omits edges of unknown nodes", () => {
    const nodes = ["a", "b"].map((id) => node(id));
    const { places, routes } = layoutInLevels(
      nodes,
      [edge("a", "b"), edge("b", "a"), edge("a", "a"), edge("a", "nowhere")],
      { direction: "down", ...GAPS },
    );
    expect(routes).to.deep.equal([[], undefined, undefined, undefined]);
    expect([places.get("a")?.y, places.get("b")?.y]).to.deep.equal([0, 70]);
  });

  it("accepts given levels, and omits the empty ones between them", () => {
    const nodes = ["a", "b", "c"].map((id) => node(id));
    const { places } = layoutInLevels(nodes, [edge("c", "a")], {
      direction: "down",
      ...GAPS,
      levels: new Map([
        ["a", 7],
        ["b", 2],
        ["c", 2],
      ]),
    });
    expect(["a", "b", "c"].map((id) => places.get(id)?.y)).to.deep.equal([70, 0, 0]);
  });

  it("is empty for no nodes", () => {
    const { places, width, height } = layoutInLevels([], [], { direction: "down", ...GAPS });
    expect([places.size, width, height]).to.deep.equal([0, 0, 0]);
  });
});
