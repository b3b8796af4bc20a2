import { expect } from "chai";
import fc from "fast-check";
import { isoDuration } from "../../../../src/plugins/observability/trace/iso-duration.js";

function parse(text: string): number {
  const [, h = "0", m = "0", s = "0"] =
    /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?$/.exec(text) ?? [];
  return (Number(h) * 3600 + Number(m) * 60 + Number(s)) * 1000;
}

describe("isoDuration", () => {
  for (const [ms, text] of [
    [0, "PT0S"],
    [1, "PT0.001S"],
    [1500, "PT1.5S"],
    [60_000, "PT1M"],
    [61_000, "PT1M1S"],
    [3_600_000, "PT1H"],
    [90_061_500, "PT25H1M1.5S"],
    [0.25, "PT0.00025S"],
    [59_999.9999, "PT1M"],
    [-5, "PT0S"],
    [Number.NaN, "PT0S"],
  ] as const) {
    it(`writes ${ms} ms as ${text}`, () => {
      expect(isoDuration(ms)).to.equal(text);
    });
  }

  it("can be read back to the microsecond, with every part in its range", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e10, noNaN: true }), (ms) => {
        const text = isoDuration(ms);
        expect(text).to.match(/^PT(?=\d)(\d+H)?([1-5]?\dM)?([1-5]?\d(\.\d{0,5}[1-9])?S)?$/);
        expect(parse(text)).to.be.closeTo(ms, 0.001);
      }),
    );
  });
});
