import { expect } from "chai";
import {
  asCount,
  asFields,
  asList,
  asText,
  codeOf,
  deepFreeze,
  isObject,
  isThenable,
  rounded,
} from "../../src/util/objects.js";

const VALUES = [undefined, null, true, 7, "text", [1], () => 1, { a: 1 }] as const;

describe("guards of unknown values", () => {
  it("isObject accepts only objects with fields", () => {
    expect(VALUES.filter(isObject)).to.deep.equal([{ a: 1 }]);
    expect(isObject(Object.create(null))).to.equal(true);
  });

  it("isThenable accepts objects with a then method", () => {
    expect(isThenable(Promise.resolve())).to.equal(true);
    expect(isThenable({ then: () => undefined })).to.equal(true);
    expect([...VALUES, { then: 1 }].filter(isThenable)).to.deep.equal([]);
  });

  it("asFields, asList, asText and asCount return the value if it has the type", () => {
    expect([asFields({ a: 1 }), asFields([1]), asFields(null)]).to.deep.equal([
      { a: 1 },
      undefined,
      undefined,
    ]);
    expect([asList([1]), asList("ab"), asList(undefined)]).to.deep.equal([[1], [], []]);
    expect([asText("a"), asText(1)]).to.deep.equal(["a", ""]);
    expect([0, 2.5, -1, Number.NaN, Infinity, "1"].map(asCount)).to.deep.equal([
      0,
      2.5,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("codeOf returns the code of an error, for any thrown value", () => {
    expect(codeOf(Object.assign(new Error("x"), { code: "ENOENT" }))).to.equal("ENOENT");
    expect(codeOf({ code: 7 })).to.equal(7);
    expect([new Error("x"), "ENOENT", null, undefined].map(codeOf)).to.deep.equal(
      new Array(4).fill(undefined),
    );
  });
});

describe("deepFreeze", () => {
  it("freezes all objects and lists within a value and returns it", () => {
    const value = { list: [{ deep: { x: 1 } }], text: "a", none: null };
    expect(deepFreeze(value)).to.equal(value);
    expect(
      [value, value.list, value.list[0], value.list[0]?.deep].every((o) => Object.isFrozen(o)),
    ).to.equal(true);
    expect(deepFreeze("text")).to.equal("text");
    expect(deepFreeze(undefined)).to.equal(undefined);
  });

  it("does not depend on the size of the stack", () => {
    let deep: object = {};
    for (let i = 0; i < 50_000; i++) deep = { deep };
    expect(Object.isFrozen(deepFreeze(deep))).to.equal(true);
  });
});

describe("rounded", () => {
  it("rounds to a number of decimals, halves up in spite of binary fractions", () => {
    expect(rounded(1.005, 2)).to.equal(1.01);
    expect(rounded(0.1 + 0.2, 8)).to.equal(0.3);
    expect(rounded(1.23449, 3)).to.equal(1.234);
    expect(rounded(12, 3)).to.equal(12);
  });
});
