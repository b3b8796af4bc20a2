import { expect } from "chai";
import { getEventListeners } from "node:events";
import { CallDeadline } from "../../../../src/plugins/providers/shared/call-deadline.js";
import { rejection } from "../../../support/rejection.js";
import { pause } from "../../../support/time.js";

const LIMITS = { timeoutMs: 60_000, idleTimeoutMs: 60_000 };
const never = new Promise<never>(() => undefined);

describe("CallDeadline", () => {
  it("passes on results and errors of the work", async () => {
    const deadline = new CallDeadline(undefined, LIMITS, () => new Error("late"));
    const boom = new Error("boom");
    expect(await deadline.race(Promise.resolve(7))).to.equal(7);
    expect(await rejection(deadline.race(Promise.reject(boom)))).to.equal(boom);
    deadline.close({ isDone: true });
  });

  it("ends work with the error of the time limit", async () => {
    const late = new Error("late");
    const deadline = new CallDeadline(undefined, { ...LIMITS, timeoutMs: 5 }, () => late);
    expect(await rejection(deadline.race(never))).to.equal(late);
    expect(deadline.cancelled).to.equal(false);
    deadline.close({ isDone: true });
  });

  it("ends work with the caller's reason, also if the signal aborted before", async () => {
    const deadline = new CallDeadline(AbortSignal.abort("stop"), LIMITS, () => new Error("late"));
    expect(await rejection(deadline.race(never))).to.equal("stop");
    expect(deadline.cancelled).to.equal(true);
    deadline.close({ isDone: true });
  });

  it("leaves no listener on the caller's signal", async () => {
    const controller = new AbortController();
    for (let i = 0; i < 3; i++) {
      const deadline = new CallDeadline(controller.signal, LIMITS, () => new Error("late"));
      await deadline.race(Promise.resolve());
      expect(getEventListeners(deadline.signal, "abort")).to.have.lengthOf(0);
      deadline.close({ isDone: true });
    }
    expect(getEventListeners(controller.signal, "abort")).to.have.lengthOf(0);
  });

  it("ends a silence, and names the limit", async () => {
    const deadline = new CallDeadline(
      undefined,
      { timeoutMs: 60_000, idleTimeoutMs: 5 },
      (exceeded) => new Error(exceeded),
    );
    expect(await rejection(deadline.race(never))).to.have.property("message", "idleTimeoutMs");
    deadline.close({ isDone: false });
  });

  it("counts waiting time only as silence", async () => {
    const deadline = new CallDeadline(
      undefined,
      { timeoutMs: 60_000, idleTimeoutMs: 20 },
      () => new Error("late"),
    );
    expect(await deadline.race(Promise.resolve(1))).to.equal(1);
    await pause(60);
    expect(await deadline.race(Promise.resolve(2))).to.equal(2);
    expect(await rejection(deadline.race(never))).to.have.property("message", "late");
    deadline.close({ isDone: false });
  });
});
