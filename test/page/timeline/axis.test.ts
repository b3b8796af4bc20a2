import { expect } from "chai";
import fc from "fast-check";
import {
  chosen,
  isWhole,
  panned,
  tickStep,
  ticksOf,
  tickText,
  wholeSpan,
  zoomed,
} from "../../../page/src/lib/timeline/axis.js";

const whole = wholeSpan(60_000);

describe("axis of the timeline", () => {
  it("keeps the time under the pointer in its place when it zooms", () => {
    const span = zoomed({ from: 10_000, to: 30_000 }, 15_000, 0.5, whole);
    expect(span).to.deep.equal({ from: 12_500, to: 22_500 });
  });

  it("never leaves the run, however it is zoomed and moved", () => {
    const time = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    const factor = fc.double({ min: 0.001, max: 1_000, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(time, factor), { maxLength: 20 }), (moves) => {
        let span = whole;
        for (const [at, by] of moves) span = panned(zoomed(span, at, by, whole), at, whole);
        expect(span.from).to.be.at.least(whole.from - 1e-6);
        expect(span.to).to.be.at.most(whole.to + 1e-6);
        expect(span.to - span.from).to.be.at.least(1.999);
      }),
    );
  });

  it("shows the complete run again when it is zoomed out", () => {
    const near = zoomed(whole, 5_000, 0.1, whole);
    expect(isWhole(near, whole)).to.equal(false);
    expect(isWhole(zoomed(near, 5_000, 100, whole), whole)).to.equal(true);
  });

  it("accepts a span drawn in either direction", () => {
    expect(chosen(9_000, 4_000, whole)).to.deep.equal({ from: 4_000, to: 9_000 });
    expect(chosen(4_000, 4_000, whole)).to.deep.equal({ from: 4_000, to: 4_002 });
  });

  it("has ticks at round numbers, and not more than fit", () => {
    expect(ticksOf({ from: 0, to: 66_000 }, 8)).to.deep.equal([
      0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000,
    ]);
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 1e10 }),
        fc.integer({ min: 1, max: 12 }),
        (to, most) => {
          expect(ticksOf({ from: 0, to }, most).length).to.be.within(1, most + 1);
        },
      ),
    );
  });

  it("writes times as precisely as the distance of the ticks requires", () => {
    const texts = [
      [0, 10],
      [250, 50],
      [1_250, 50],
      [30_000, 10_000],
      [90_000, 30_000],
      [120_000, 60_000],
      [5_400_000, 1_800_000],
    ].map(([at = 0, step = 0]) => tickText(at, step));
    expect(texts).to.deep.equal(["0", "0.25 s", "1.25 s", "30 s", "1:30", "2 min", "1:30 h"]);
    expect(tickStep({ from: 0, to: 8 }, 8)).to.equal(1);
    expect(tickText(3, 1)).to.equal("3 ms");
  });
});
