import { expect } from "chai";
import { Cancellation } from "../../../src/util/abort/cancellation.js";
import { listeners, timers } from "../../support/waiting.js";
import { pause } from "../../support/time.js";

const FIRST = new Error("first");
const SECOND = new Error("second");

describe("Cancellation", () => {
  it("keeps the first reason, and passes it to its signal", () => {
    const cancellation = new Cancellation();
    expect(cancellation.reason).to.equal(undefined);
    cancellation.cancel(FIRST);
    cancellation.cancel(SECOND);
    expect(cancellation.reason).to.equal(FIRST);
    expect(cancellation.signal.reason).to.equal(FIRST);
  });

  it("has one signal, which is the same before and after its abort", () => {
    const cancellation = new Cancellation();
    const { signal } = cancellation;
    expect(signal.aborted).to.equal(false);
    cancellation.cancel(FIRST);
    expect(cancellation.signal).to.equal(signal);
    expect(signal.reason).to.equal(FIRST);
  });

  it("calls its callbacks once, in reverse order, and late ones immediately", () => {
    const calls: string[] = [];
    const cancellation = new Cancellation();
    const forgotten = (): void => void calls.push("forgotten");
    cancellation.onCancel(() => calls.push("a"));
    cancellation.onCancel(forgotten);
    cancellation.onCancel(() => calls.push("b"));
    cancellation.forget(forgotten);
    cancellation.cancel(FIRST);
    cancellation.cancel(SECOND);
    cancellation.onCancel(() => calls.push("late"));
    expect(calls).to.deep.equal(["b", "a", "late"]);
  });

  it("has its reason and an aborted signal when callbacks run", () => {
    const cancellation = new Cancellation();
    cancellation.onCancel(() => {
      expect(cancellation.reason).to.equal(FIRST);
      expect(cancellation.signal.aborted).to.equal(true);
    });
    cancellation.cancel(FIRST);
  });

  it("cancels its children, not its parent", () => {
    const parent = new Cancellation();
    const [child, sibling] = [new Cancellation(parent), new Cancellation(parent)];
    child.cancel(FIRST);
    expect([parent.reason, sibling.reason]).to.deep.equal([undefined, undefined]);
    parent.cancel(SECOND);
    expect([child.reason, sibling.reason]).to.deep.equal([FIRST, SECOND]);
    expect(new Cancellation(parent).reason).to.equal(SECOND);
  });

  it("no longer follows its parent, its signals and its timers after dispose()", async () => {
    const parent = new Cancellation();
    const [one, other] = [new AbortController(), new AbortController()];
    const before = timers();
    const child = new Cancellation(parent)
      .follow(one.signal)
      .expire(5, () => FIRST)
      .follow(other.signal);
    child.dispose();
    expect(timers()).to.equal(before);
    expect([listeners(one.signal), listeners(other.signal)]).to.deep.equal([0, 0]);
    parent.cancel(FIRST);
    one.abort();
    await pause(10);
    expect(child.reason).to.equal(undefined);
  });

  it("leaves no timer and no listener after it is cancelled", () => {
    const controller = new AbortController();
    const before = timers();
    const cancellation = new Cancellation()
      .follow(controller.signal)
      .expire(60_000, () => SECOND)
      .expire(70_000, () => SECOND);
    cancellation.cancel(FIRST);
    cancellation.expire(60_000, () => SECOND).follow(controller.signal);
    expect(timers()).to.equal(before);
    expect(listeners(controller.signal)).to.equal(0);
  });

  it("follows a signal, with the signal's reason or a derived one", () => {
    for (const isAborted of [false, true]) {
      const controller = new AbortController();
      if (isAborted) controller.abort(FIRST);
      const plain = new Cancellation().follow(controller.signal);
      const made = new Cancellation().follow(controller.signal, () => SECOND);
      controller.abort(FIRST);
      expect([plain.reason, made.reason]).to.deep.equal([FIRST, SECOND]);
    }
  });

  it("expires with the reason that is created then", async () => {
    let made = 0;
    const cancellation = new Cancellation().expire(1, () => (made++, FIRST));
    expect(made).to.equal(0);
    await new Promise<void>((resolve) => cancellation.onCancel(resolve));
    expect([cancellation.reason, made]).to.deep.equal([FIRST, 1]);
  });
});
