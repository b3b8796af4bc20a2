import { expect } from "chai";
import { AbortWatch } from "../../../src/util/abort/abort-watch.js";
import { listeners } from "../../support/waiting.js";

describe("AbortWatch", () => {
  it("calls all functions of a signal in their order, with one listener", () => {
    const [controller, other] = [new AbortController(), new AbortController()];
    const watch = new AbortWatch();
    const calls: number[] = [];
    for (let n = 0; n < 20; n++) watch.on(controller.signal, () => calls.push(n));
    watch.on(other.signal, () => calls.push(-1));
    expect(listeners(controller.signal)).to.equal(1);
    controller.abort();
    expect(calls).to.deep.equal(Array.from({ length: 20 }, (_, n) => n));
  });

  it("calls no function that was removed", () => {
    const controller = new AbortController();
    const watch = new AbortWatch();
    const calls: string[] = [];
    const forget = watch.on(controller.signal, () => calls.push("forgotten"));
    watch.on(controller.signal, () => calls.push("kept"));
    forget();
    controller.abort();
    expect(calls).to.deep.equal(["kept"]);
  });
});
