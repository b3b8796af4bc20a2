import { expect } from "chai";
import { QueueGate } from "../../src/service/queue-gate.js";
import { rejectionOf } from "../support/rejection.js";

const ignored = (): void => undefined;
const limits = { globalConcurrency: 1, rate: { starts: 1, periodMs: 1_000 } };

function gateWith(fields: object, given: object = limits): QueueGate {
  const settled: unknown[] = [];
  const place = { settle: async (spent: unknown) => void settled.push(spent) };
  const fleet = {
    budgetAccounts: { open: async () => ({ reserve: async () => place }) },
    rateWindow: { take: async () => ({ begin: ignored, end: ignored }) },
    ...fields,
  };
  return new QueueGate("q", given, fleet as never, { now: () => new Date() } as never);
}

describe("the gate of a queue", () => {
  const open = new AbortController().signal;

  it("returns its place if the rate can't be queried, without an unhandled error", async () => {
    let settles = 0;
    const place = {
      settle: async () => {
        settles++;
        throw new Error("gone");
      },
    };
    const budgetAccounts = { open: async () => ({ reserve: async () => place }) };
    const rateWindow = { take: () => Promise.reject(new Error("no store")) };
    const gate = gateWith({ budgetAccounts, rateWindow });
    const error = await rejectionOf(Error, gate.enter(open, ignored) as Promise<unknown>);
    expect(error.message).to.equal("no store");
    expect(settles).to.equal(1);
  });

  it("admits no caller after the abort, with and without limits", async () => {
    const aborted = AbortSignal.abort();
    for (const given of [{}, limits, { rate: limits.rate }])
      expect(await gateWith({}, given).enter(aborted, ignored)).to.equal(undefined);
    const controller = new AbortController();
    const gate = gateWith({});
    const entering = gate.enter(controller.signal, () => controller.abort());
    expect(await entering).to.equal(undefined);
  });

  it("releases a slot once", async () => {
    let settles = 0;
    const place = { settle: async () => void settles++ };
    const gate = gateWith({
      budgetAccounts: { open: async () => ({ reserve: async () => place }) },
    });
    const entered = await gate.enter(open, ignored);
    entered?.begin();
    entered?.leave();
    entered?.leave();
    expect(settles).to.equal(1);
  });
});
