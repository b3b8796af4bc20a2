import { expect } from "chai";
import { barOfCall, callNumber } from "../../../page/src/lib/timeline/call-number.js";

describe("number of a model call", () => {
  it("counts calls, and not their failed attempts", () => {
    const bars = [
      { kind: "task", startMs: 0, endMs: 90 },
      { kind: "model", startMs: 0, endMs: 10 },
      { kind: "tool", startMs: 10, endMs: 20 },
      { kind: "failed", startMs: 20, endMs: 30 },
      { kind: "model", startMs: 40, endMs: 50 },
    ] as const;
    expect(bars.map((_, i) => callNumber(bars, i))).to.deep.equal([undefined, 1, undefined, 2, 2]);
    expect(callNumber(bars, 9)).to.equal(undefined);
    expect([1, 2, 3, undefined].map((call) => barOfCall(bars, call))).to.deep.equal([
      1,
      4,
      undefined,
      undefined,
    ]);
  });
});
