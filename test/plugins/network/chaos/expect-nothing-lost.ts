import { expect } from "chai";
import type { ChaosReport } from "./chaos.js";

/** The rules for the results of each chaos test. */
export function expectNothingLost(report: ChaosReport): void {
  const { lost, wrong, recordedTwice, paidAgain, startedAgain, mayStartAgain, left } = report;
  const { queued, leased, dead } = left;
  expect({ lost, wrong, recordedTwice, paidAgain, queued, leased, dead }).to.deep.equal({
    lost: [],
    wrong: [],
    recordedTwice: [],
    paidAgain: [],
    queued: 0,
    leased: 0,
    dead: 0,
  });
  expect(startedAgain, "executions of requests that were executed before").to.be.at.most(
    mayStartAgain,
  );
}
