import { expect } from "chai";
import {
  AgentEnsembleError,
  BudgetExceededError,
  ExitEarlySignal,
  ModelCallError,
  RateLimit,
  RateLimitTimeoutError,
  TaskTimeoutError,
  ToolConfigurationError,
} from "../../../src/index.js";
import { restoreError, storeError } from "../../../src/plugins/shared/stored-error.js";

/** The error as a later process reads it. */
function restored(error: unknown): Error {
  const data: unknown = JSON.parse(JSON.stringify(storeError(error)));
  return restoreError(data as ReturnType<typeof storeError>); // its own JSON
}

describe("a stored error", () => {
  it("is restored with the fields of a failed model call", () => {
    const error = new ModelCallError(
      "Too many requests",
      {
        provider: "openai",
        modelId: "gpt",
        code: "AE_MODEL_RATE_LIMITED",
        status: 429,
        retryable: true,
        retryAfterMs: 700,
        partialText: "Hel",
      },
      { cause: new TypeError("socket"), hint: "Wait." },
    );
    const found = restored(error);
    expect(ModelCallError.isInstance(found)).to.equal(true);
    const { provider, modelId, code, status, retryable, retryAfterMs, partialText, hint } = error;
    expect(found).to.include({ message: error.message, provider, modelId, code, status, hint });
    expect(found).to.include({ retryable, retryAfterMs, partialText });
    expect((found.cause as Error).name).to.equal("TypeError");
  });

  it("is restored with its limit, and with the time that was allowed", () => {
    const limit = RateLimit.of(3, 1_000).with({ tokens: 50, waitTimeoutMs: 20 });
    const late = restored(new RateLimitTimeoutError(limit, 20));
    expect(RateLimitTimeoutError.isInstance(late)).to.equal(true);
    expect(late).to.have.deep.nested.property("rateLimit.tokens", 50);
    const plain = restored(new RateLimitTimeoutError(RateLimit.of(1, 10), 20));
    expect(plain).to.have.deep.nested.property("rateLimit.tokens", undefined);
    const slow = new TaskTimeoutError("Task 'read'", 250);
    expect(restored(slow)).to.include({ message: slow.message, timeoutMs: 250 });
  });

  it("is restored as its class if a workflow checks the class", () => {
    const wrong = restored(new ToolConfigurationError("no key", { hint: "Set it." }));
    expect(ToolConfigurationError.isInstance(wrong)).to.equal(true);
    expect(wrong).to.include({ message: "no key", hint: "Set it." });
    const spent = restored(new BudgetExceededError("used up", "maxCost", { hint: "Raise it." }));
    expect(BudgetExceededError.isInstance(spent)).to.equal(true);
    expect(spent).to.include({ message: "used up", limit: "maxCost", hint: "Raise it." });
    expect(restored(new ExitEarlySignal("enough", { timedOut: true }))).to.include({
      message: "enough",
      timedOut: true,
    });
  });

  it("keeps code and name of other errors, and accepts values that are not errors", () => {
    const own = new AgentEnsembleError("AE_MINE", "mine", { cause: new Error("below") });
    Object.defineProperty(own, "name", { value: "MineError" });
    const found = restored(own);
    expect(found).to.include({ code: "AE_MINE", name: "MineError" });
    expect((found.cause as Error).message).to.equal("below");
    expect(restored(new RangeError("far"))).to.include({ name: "RangeError", message: "far" });
    expect(restored(new Error("outer", { cause: new Error("inner") })).cause).to.be.an("error");
    expect(restored("text").message).to.equal("text");
  });

  it("is restored from data of other versions that lack fields", () => {
    const base = { name: "Error", message: "old" } as const;
    expect(restoreError({ kind: "rateLimit", ...base }).message).to.equal("old");
    expect(restoreError({ kind: "timeout", ...base })).to.include({ timeoutMs: 0 });
    expect(restoreError({ kind: "framework", ...base })).to.include({ code: "AE_TOOL_EXECUTION" });
    expect(restoreError({ kind: "model", ...base })).to.include({
      code: "AE_MODEL_CALL",
      retryable: false,
    });
  });
});
