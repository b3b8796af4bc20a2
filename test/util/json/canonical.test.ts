import { expect } from "chai";
import fc from "fast-check";
import { canonicalJson } from "../../../src/util/json/canonical.js";

describe("canonicalJson", () => {
  it("does not depend on the order of keys, and can be read back", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(turned)).to.equal(canonicalJson(value));
        expect(canonicalJson(JSON.parse(canonicalJson(value)))).to.equal(canonicalJson(value));
      }),
    );
  });

  it("omits undefined fields and keeps the order of lists", () => {
    expect(canonicalJson({ b: undefined, a: [2, 1] })).to.equal('{"a":[2,1]}');
  });
});
