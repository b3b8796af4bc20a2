import { expect } from "chai";
import {
  callersCache,
  outsideProblem,
} from "../../../../src/plugins/network/shared/outside-fields.js";

describe("the fields of a request over HTTP", () => {
  it("are reported if they are invalid", () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ path: ["a", 1] }, 'path must be an array of names, got: ["a",1]'],
      [{ path: "a" }, "path must be an array of names, got: a"],
      [{ delivery: 3 }, "delivery.method must be one of STORE, NONE over HTTP, got: undefined"],
      [{ budget: { currency: 3 } }, "budget.currency must be a text, got: 3"],
      [{ budget: { tokens: 0 } }, "budget.tokens must be a number above 0, got: 0"],
      [{ cache: 3 }, "cache must have policy, key and maxAgeMs, got: undefined"],
      [{ cache: { policy: "USE_CACHED", key: "k", maxAgeMs: "1" } }, "cache must have policy"],
      [{ cache: { policy: "FORCE_FRESH", maxAgeMs: 1 } }, "cache must have policy"],
    ];
    for (const [fields, problem] of cases)
      expect(outsideProblem({ ...fields })).to.include(problem);
  });

  it("are accepted if they are valid", () => {
    const right = {
      path: ["a"],
      delivery: { method: "WEBHOOK" },
      cache: { policy: "FORCE_FRESH", key: "k", maxAgeMs: 1 },
      budget: { currency: "EUR", cost: 1 },
    };
    expect(outsideProblem(right, { hasWebhooks: true })).to.equal(undefined);
    expect(outsideProblem(right)).to.include("STORE, NONE over HTTP, got: WEBHOOK");
    expect(outsideProblem({})).to.equal(undefined);
  });

  it("separate the caches of callers", () => {
    expect(callersCache({ key: "k" }, "a")).to.deep.equal({ cache: { key: '["a","k"]' } });
    expect(callersCache("k", "a")).to.deep.equal({});
  });
});
