import { expect } from "chai";
import fc from "fast-check";
import { toJsonValue } from "../../../src/util/json/to-json-value.js";

describe("toJsonValue", () => {
  it("keeps JSON values unchanged", () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        (value) => void expect(JSON.stringify(toJsonValue(value))).to.equal(JSON.stringify(value)),
      ),
    );
  });

  it("never makes JSON.stringify throw", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withMap: true,
          withSet: true,
          withDate: true,
          withNullPrototype: true,
        }),
        (value) => void JSON.stringify(toJsonValue(value)),
      ),
    );
  });

  it("converts values that JSON can't represent to text", () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    const hostile = {
      get value(): never {
        throw new Error("no");
      },
    };
    expect(toJsonValue(circular)).to.deep.equal({ self: "[Circular]" });
    expect(toJsonValue(12n)).to.equal("12n");
    expect(toJsonValue(Number.NaN)).to.equal("NaN");
    expect(toJsonValue(function named() {})).to.contain("named");
    expect(toJsonValue(new Map([["a", 1]]))).to.contain("'a' => 1");
    expect(toJsonValue(new Date(Number.NaN))).to.equal("Invalid Date");
    expect(toJsonValue(new TypeError("bad"))).to.equal("TypeError: bad");
    expect(toJsonValue(hostile)).to.equal("[Unreadable: no]");
  });

  it("keeps an object that occurs twice, and cuts a very deep one", () => {
    const shared = { a: 1 };
    expect(toJsonValue([shared, shared])).to.deep.equal([{ a: 1 }, { a: 1 }]);
    let deep: unknown = "end";
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(JSON.stringify(toJsonValue(deep))).to.contain("[Too deep]");
  });
});
