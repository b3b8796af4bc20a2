import { expect } from "chai";
import { startTimer } from "../../../src/util/abort/timer.js";
import { timers } from "../../support/waiting.js";
import { pause } from "../../support/time.js";

describe("startTimer", () => {
  it("calls the function once", async () => {
    let calls = 0;
    await new Promise<void>((resolve) => startTimer(1, () => (calls++, resolve())));
    await pause(5);
    expect(calls).to.equal(1);
  });

  it("calls nothing after it is stopped", async () => {
    let calls = 0;
    startTimer(1, () => calls++)();
    await pause(5);
    expect(calls).to.equal(0);
  });

  for (const ms of [2_147_483_648, Number.POSITIVE_INFINITY]) {
    it(`waits ${ms} ms, also beyond the limit of Node's timers`, async () => {
      let calls = 0;
      await Promise.resolve(); // by then the timer of this test is running
      const before = timers();
      const stop = startTimer(ms, () => calls++);
      await pause(10);
      expect(calls).to.equal(0);
      stop();
      await new Promise((resolve) => setImmediate(resolve)); // the timer above is gone by then
      expect(timers()).to.equal(before);
    });
  }
});
