import { expect } from "chai";
import fc from "fast-check";
import { packBins, totalTokens } from "../../../../src/plugins/workflows/map-reduce/bin-packing.js";

const named = (...sizes: number[]): { readonly name: number; readonly tokens: number }[] =>
  sizes.map((tokens, name) => ({ name, tokens }));
const namesOf = (bins: readonly (readonly { readonly name: number }[])[]): number[][] =>
  bins.map((bin) => bin.map(({ name }) => name));

describe("packBins", () => {
  it("places the largest items first, each into the first bin with room", () => {
    expect(namesOf(packBins(named(40, 60, 30, 70), 100))).to.deep.equal([
      [3, 2],
      [1, 0],
    ]);
  });

  it("keeps the order of equal items", () => {
    expect(namesOf(packBins(named(50, 50, 50, 50), 100))).to.deep.equal([
      [0, 1],
      [2, 3],
    ]);
  });

  it("places an item above the budget into a separate bin", () => {
    expect(namesOf(packBins(named(10, 500, 20), 100))).to.deep.equal([[1], [2, 0]]);
  });

  it("never fills a bin above the budget with several items, and neither loses nor duplicates items", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2_000)), fc.integer({ min: 1, max: 1_500 }), (sizes, budget) => {
        const items = named(...sizes);
        const bins = packBins(items, budget);
        for (const bin of bins)
          expect(bin.length === 1 || totalTokens(bin) <= budget).to.equal(true);
        expect(
          namesOf(bins)
            .flat()
            .sort((a, b) => a - b),
        ).to.deep.equal(items.map(({ name }) => name));
      }),
    );
  });
});
