import { expect } from "chai";
import { ValidationError } from "../../src/contracts/errors.js";
import { requestRunOptions } from "../../src/service/run-options.js";

describe("the options of the run of a request", () => {
  const run = { signal: new AbortController().signal, timeoutMs: undefined, listener: {} };
  const options = (fields: object, currency?: string): object =>
    requestRunOptions({ requestId: "r", from: "a", ...fields } as never, { ...run, currency });

  it("contain only the requested options", () => {
    expect(options({})).to.not.have.any.keys("timeoutMs", "priority", "bindings");
    expect(options({ priority: 1, budget: {} })).to.include({ priority: 1 });
    expect(options({ budget: {} })).to.not.have.property("bindings");
    expect(options({ budget: { maxTokens: 5 } })).to.have.property("bindings");
    expect(options({ reviews: "forward" }))
      .to.have.property("bindings")
      .that.is.a("function");
  });

  it("are refused for an unsupported budget", () => {
    expect(() => options({ budget: { maxCost: 1 } })).to.throw(
      ValidationError,
      "The budget limits the cost, but this ensemble has no prices",
    );
    expect(() => options({ budget: { maxCost: 1 } }, "EUR")).to.throw(
      "The budget limits the cost in USD, and this ensemble's prices are in EUR",
    );
    expect(() => options({ budget: { maxTokens: -1 } })).to.throw(
      "The budget of the request is invalid",
    );
    expect(options({ budget: { maxCost: 1, currency: "EUR" } }, "EUR")).to.have.property(
      "bindings",
    );
  });
});
