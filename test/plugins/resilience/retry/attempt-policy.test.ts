import { expect } from "chai";
import type { ModelErrorCode } from "../../../../src/contracts/model-error-code.js";
import { AttemptPolicy } from "../../../../src/plugins/resilience/shared/attempt-policy.js";
import {
  resolveRetryOptions,
  type RetryOptions,
} from "../../../../src/plugins/resilience/retry/retry-options.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { failed, llmCall, withAttempts } from "../llm-calls.js";

const policy = (options?: RetryOptions): AttemptPolicy =>
  new AttemptPolicy(resolveRetryOptions(options));
const PASSING: readonly ModelErrorCode[] = [
  "AE_MODEL_CALL",
  "AE_MODEL_RATE_LIMITED",
  "AE_MODEL_BAD_RESPONSE",
  "AE_MODEL_CONNECTION",
  "AE_MODEL_SERVER",
  "AE_MODEL_TIMEOUT",
];
const FINAL: readonly ModelErrorCode[] = [
  "AE_MODEL_AUTH",
  "AE_MODEL_QUOTA",
  "AE_MODEL_BAD_REQUEST",
  "AE_MODEL_CONTEXT_LENGTH",
];

describe("the retry policy", () => {
  it("repeats temporary failures", () => {
    for (const code of PASSING)
      expect(policy({}).next(failed(code), 1, llmCall()), code).to.have.property("delayMs");
  });

  it("repeats a time-out also if the provider does not call it retryable, and no other failure", () => {
    expect(
      policy({}).next(failed("AE_MODEL_TIMEOUT", { retryable: false }), 1, llmCall()),
    ).to.have.property("delayMs");
    expect(policy({}).next(failed("AE_MODEL_SERVER", { retryable: false }), 1, llmCall())).to.equal(
      undefined,
    );
  });

  it("never repeats a permanent failure, for any answer of the provider", () => {
    for (const code of FINAL)
      expect(policy({}).next(failed(code), 1, llmCall()), code).to.equal(undefined);
    for (const status of [400, 401, 402, 403, 404, 413])
      expect(
        policy({}).next(failed("AE_MODEL_CALL", { status }), 1, llmCall()),
        String(status),
      ).to.equal(undefined);
  });

  it("does not change errors that are not failures of a model", () => {
    for (const error of [new Error("broken"), "broken", undefined])
      expect(policy({}).next(error, 1, llmCall())).to.equal(undefined);
  });

  it("recognises a failure of another copy of the package", () => {
    class ModelCallError extends Error {
      readonly code = "AE_MODEL_SERVER";
      readonly retryable = true;
      get [Symbol.for("agentensemble/error")](): true {
        return true;
      }
    }
    expect(policy({}).next(new ModelCallError("from elsewhere"), 1, llmCall())).to.have.property(
      "delayMs",
    );
  });

  it("stops after maxAttempts, three by default", () => {
    expect(policy({}).next(failed("AE_MODEL_SERVER"), 2, llmCall())).to.have.property("delayMs");
    expect(policy({}).next(failed("AE_MODEL_SERVER"), 3, llmCall())).to.equal(undefined);
    expect(policy({ maxAttempts: 1 }).next(failed("AE_MODEL_SERVER"), 1, llmCall())).to.equal(
      undefined,
    );
  });

  it("repeats only as often as a model declares without configuration", () => {
    const declared = llmCall({ model: withAttempts(new ScriptedModel([]), 2) });
    expect(policy().next(failed("AE_MODEL_SERVER"), 1, llmCall())).to.equal(undefined);
    expect(policy().next(failed("AE_MODEL_SERVER"), 1, declared)).to.have.property("delayMs");
    expect(policy().next(failed("AE_MODEL_SERVER"), 2, declared)).to.equal(undefined);
  });

  it("replaces the model's number of attempts by its own", () => {
    const declared = llmCall({ model: withAttempts(new ScriptedModel([]), 9) });
    expect(policy({ maxAttempts: 2 }).next(failed("AE_MODEL_SERVER"), 2, declared)).to.equal(
      undefined,
    );
  });

  it("waits longer each time, from half to all of a doubling delay, up to the maximum", () => {
    const growing = policy({ maxAttempts: 50, baseDelayMs: 100, maxDelayMs: 1_000 });
    for (const [attempt, ceiling] of [100, 200, 400, 800, 1_000, 1_000].entries()) {
      const delayMs = growing.next(failed("AE_MODEL_SERVER"), attempt + 1, llmCall())?.delayMs;
      expect(delayMs).to.be.within(ceiling / 2, ceiling);
    }
    expect(growing.next(failed("AE_MODEL_SERVER"), 49, llmCall())?.delayMs).to.be.within(
      500,
      1_000,
    );
  });

  it("waits equally long at the same position of the same run, and differently elsewhere", () => {
    const delayOf = (taskId: string): number | undefined =>
      policy({}).next(failed("AE_MODEL_SERVER"), 1, llmCall({ taskId }))?.delayMs;
    expect(delayOf("task-1")).to.equal(delayOf("task-1"));
    const delays = Array.from({ length: 200 }, (_, n) => delayOf(`task-${n}`) ?? 0);
    expect(new Set(delays).size).to.be.greaterThan(100);
    expect(Math.min(...delays)).to.be.within(250, 270);
    expect(Math.max(...delays)).to.be.within(480, 500);
  });

  it("waits exactly as long as the vendor requests, and does not retry beyond the limit", () => {
    expect(
      policy({}).next(failed("AE_MODEL_RATE_LIMITED", { retryAfterMs: 60_000 }), 1, llmCall())
        ?.delayMs,
    ).to.equal(60_000);
    expect(
      policy({}).next(failed("AE_MODEL_RATE_LIMITED", { retryAfterMs: 60_001 }), 1, llmCall()),
    ).to.equal(undefined);
    expect(
      policy({ maxRetryAfterMs: 0 }).next(
        failed("AE_MODEL_RATE_LIMITED", { retryAfterMs: 0 }),
        1,
        llmCall(),
      )?.delayMs,
    ).to.equal(0);
    expect(
      policy({}).next(failed("AE_MODEL_RATE_LIMITED", { retryAfterMs: Number.NaN }), 1, llmCall())
        ?.delayMs,
    ).to.be.within(250, 500);
  });
});
