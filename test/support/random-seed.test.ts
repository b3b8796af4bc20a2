import { expect } from "chai";
import fc from "fast-check";
import { seedOf } from "./random-seed.js";

/** Returns the values that a property test draws. */
function drawn(): readonly number[] {
  const values: number[] = [];
  fc.assert(
    fc.property(fc.integer(), (value) => {
      values.push(value);
    }),
  );
  return values;
}

describe("property tests", () => {
  it("draw the same values in every execution, from the seed of the environment or a fixed one", () => {
    expect(drawn()).to.deep.equal(drawn());
    expect(fc.readConfigureGlobal()).to.have.property("seed", seedOf(process.env["FUZZ_SEED"]));
  });

  it("refuse a seed that is not a 32-bit integer", () => {
    expect(seedOf("-7")).to.equal(-7);
    for (const text of ["", " ", "x", "1.5", "4294967296", "NaN"])
      expect(() => seedOf(text), text).to.throw("FUZZ_SEED must be a 32-bit integer");
  });
});
