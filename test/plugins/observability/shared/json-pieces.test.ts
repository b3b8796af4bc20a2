import { expect } from "chai";
import fc from "fast-check";
import { jsonPieces, LazyList } from "../../../../src/plugins/observability/shared/json-pieces.js";

describe("jsonPieces", () => {
  it("yield the text of JSON.stringify at any depth", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 6 }), (value, levels) => {
        expect([...jsonPieces(value, levels)].join("")).to.equal(JSON.stringify(value, null, 2));
      }),
    );
  });

  it("omit undefined fields, write dates, and accept lists that are created on demand", () => {
    const at = new Date(0);
    const plain = { at, none: undefined, list: [{ a: 1 }, null], empty: [] };
    const lazy = { ...plain, list: new LazyList(plain.list), empty: new LazyList([]) };
    expect([...jsonPieces(lazy, 2)].join("")).to.equal(JSON.stringify(plain, null, 2));
  });

  it("are created one after the other", () => {
    const made: number[] = [];
    function* items(): Generator<number> {
      for (let i = 0; i < 5; i++) {
        made.push(i);
        yield i;
      }
    }
    const pieces = jsonPieces(new LazyList(items()), 1);
    pieces.next();
    expect(made).to.deep.equal([0]);
  });
});
