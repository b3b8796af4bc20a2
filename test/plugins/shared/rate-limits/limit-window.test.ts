import { expect } from "chai";
import fc from "fast-check";
import { RateLimit } from "../../../../src/contracts/rate-limit.js";
import { LimitWindow } from "../../../../src/plugins/shared/rate-limits/limit-window.js";

const weighed = RateLimit.of(100, 1_000).with({ tokens: 50 });

/** A call that begins immediately. */
function start(window: LimitWindow, now: number, tokens = 0): void {
  window.hold(tokens);
  window.begin(now);
}

describe("a window", () => {
  it("opens when its first start is older than a period and a margin", () => {
    const window = new LimitWindow(RateLimit.of(3, 1_000));
    for (const at of [100, 200, 300]) {
      expect(window.openAt(at)).to.equal(at);
      start(window, at);
    }
    expect(window.openAt(400)).to.be.within(1_100, 1_120);
    expect(window.openAt(1_120)).to.equal(1_120);
  });

  it("never has more starts in any period than it allows, for any arrivals and delays of calls", () => {
    const gaps = fc.array(
      fc.record({
        pause: fc.double({ min: 0, max: 900, noNaN: true }),
        delay: fc.double({ min: 0, max: 300, noNaN: true }),
      }),
      {
        minLength: 1,
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 5 }), (calls, requests) => {
        const window = new LimitWindow(RateLimit.of(requests, 1_000));
        const starts: number[] = [];
        let now = 0;
        for (const { pause, delay } of calls) {
          now = window.openAt(now + pause);
          window.hold(0);
          now += delay;
          window.begin(now);
          starts.push(now);
        }
        starts
          .slice(requests)
          .forEach((at, index) => expect(at - (starts[index] ?? 0)).to.be.at.least(1_000));
      }),
    );
  });

  it("keeps the place of a granted call until it begins, and frees it if the call never begins", () => {
    const window = new LimitWindow(RateLimit.of(1, 1_000));
    window.hold(0);
    expect([window.openAt(5_000), window.openAtBest(5_000)]).to.deep.equal([
      Number.POSITIVE_INFINITY,
      5_000,
    ]);
    window.giveBack(0);
    expect(window.openAt(5_000)).to.equal(5_000);
  });

  it("is closed while reserved and used tokens reach its limit", () => {
    const window = new LimitWindow(weighed);
    start(window, 0, 60);
    expect([window.openAt(1), window.openAtBest(1)]).to.deep.equal([Number.POSITIVE_INFINITY, 1]);
    window.settle(500, 60, 40);
    expect(window.openAt(501)).to.equal(501);
    start(window, 501, 10);
    expect(window.openAt(502), "40 used, 10 reserved").to.be.within(1_500, 1_520);
    window.settle(502, 10, 30);
    expect(window.openAt(503), "70 used: the first 40 must go").to.be.within(1_500, 1_520);
    expect(window.openAt(1_520)).to.equal(1_520);
  });

  it("admits a call that is larger than the limit if nothing else has been used", () => {
    const window = new LimitWindow(weighed);
    expect(window.openAt(0)).to.equal(0);
    start(window, 0, 500);
    window.settle(10, 500, 500);
    expect(window.openAt(11)).to.be.within(1_010, 1_030);
  });

  it("discards a long list of starts in one step", () => {
    const window = new LimitWindow(RateLimit.of(300_000, 1_000));
    for (let n = 0; n < 300_000; n++) start(window, 0);
    expect(window.openAt(1)).to.be.greaterThan(1_000);
    expect(window.openAt(2_000)).to.equal(2_000);
  });
});
