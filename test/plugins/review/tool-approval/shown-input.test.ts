import { expect } from "chai";
import { shownInput } from "../../../../src/plugins/review/tool-approval/shown-input.js";

describe("an input in its shown form", () => {
  const schema = {
    type: "object",
    properties: { to: { type: "string" }, items: { type: "array", items: { type: "object" } } },
  };

  it("contains its keys in the order of the schema, and the others by name", () => {
    const { input, truncated } = shownInput(
      { z: 1, items: [{ b: 1, a: 2 }], c: 2, to: "x" },
      schema,
    );
    expect(JSON.stringify(input)).to.equal('{"to":"x","items":[{"a":2,"b":1}],"c":2,"z":1}');
    expect(truncated).to.equal(false);
    expect(shownInput({ b: 1, a: 2 }, undefined).text).to.match(/a[^b]*2[^]*b/);
  });

  it("is marked as shortened if JSON does not represent all of it", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    for (const value of [cycle, { n: 1n }, { f: () => 1 }, [Symbol("s")], { m: new Map([[1, 2]]) }])
      expect(shownInput(value, schema).truncated).to.equal(true);
  });
});
