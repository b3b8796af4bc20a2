import { expect } from "chai";
import { systemClock, uuidGenerator } from "../../src/util/runtime.js";

describe("systemClock", () => {
  it("returns the time of the machine and a monotonic clock", () => {
    expect(systemClock.now().getFullYear()).to.be.at.least(2024);
    const first = systemClock.monotonicMs();
    expect(systemClock.monotonicMs()).to.be.at.least(first);
  });
});

describe("uuidGenerator", () => {
  it("returns a new UUID of version 4 with each call", () => {
    const ids = [uuidGenerator.next(), uuidGenerator.next()];
    for (const id of ids)
      expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).to.equal(2);
  });
});
