import { expect } from "chai";
import fc from "fast-check";
import { rangesOf } from "../../../page/src/lib/run/number-ranges.js";

describe("ranges of entries", () => {
  it("combine numbers that are close together", () => {
    expect(rangesOf([3, 5, 40, 200, 201], 9)).to.deep.equal([
      { after: 2, limit: 38 },
      { after: 199, limit: 2 },
    ]);
  });

  it("are limited to the last ones", () => {
    expect(rangesOf([0, 100, 200], 2).map(({ after }) => after)).to.deep.equal([99, 199]);
    expect(rangesOf([], 2)).to.deep.equal([]);
  });

  it("contain every number and are bounded", () => {
    const numbers = fc
      .uniqueArray(fc.nat({ max: 5_000 }))
      .map((list) => list.sort((a, b) => a - b));
    fc.assert(
      fc.property(numbers, (list) => {
        const ranges = rangesOf(list, Number.POSITIVE_INFINITY);
        for (const n of list)
          expect(ranges.some(({ after, limit }) => n > after && n <= after + limit)).to.equal(true);
        for (const { limit } of ranges) expect(limit).to.be.at.most(500 + 40);
      }),
    );
  });
});
