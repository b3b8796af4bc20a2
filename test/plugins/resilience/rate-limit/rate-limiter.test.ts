import { expect } from "chai";
import fc from "fast-check";
import type { ChatModel, ChatResponse } from "../../../../src/contracts/chat-model.js";
import type { OwnedRateLimit, LlmCall } from "../../../../src/contracts/hooks.js";
import { RateLimitTimeoutError } from "../../../../src/contracts/errors.js";
import { RateLimit } from "../../../../src/contracts/rate-limit.js";
import type { Token } from "../../../../src/contracts/token.js";
import { Tokens } from "../../../../src/contracts/tokens.js";
import { LocalRateWindow } from "../../../../src/plugins/resilience/rate-limit/local-rate-window.js";
import { StagedHookRun } from "../../../../src/plugins/testing/staged-hook-run.js";
import { RateLimiter } from "../../../../src/plugins/resilience/rate-limit/rate-limiter.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { rejection } from "../../../support/rejection.js";
import { failed, llmCall } from "../llm-calls.js";
import { pause } from "../../../support/time.js";

class LimitedRun extends StagedHookRun {
  readonly #window = new LocalRateWindow();
  override find<T>(token: Token<T>): T | undefined {
    return token === Tokens.RateWindow ? (this.#window as T) : super.find(token);
  }
}
const run = new LimitedRun("run-1");
const bears = (limit: RateLimit, bearer: object = {}): OwnedRateLimit => ({ owner: bearer, limit });
const response: ChatResponse = {
  message: { role: "assistant", content: "Hello" },
  finishReason: "stop",
};
const limited = (limits: readonly OwnedRateLimit[], o: Partial<LlmCall> = {}): LlmCall =>
  llmCall({ run, rateLimits: [...limits], ...o });
const timers = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

/** Waits for the call's turn and begins it, like the hooks. Returns the time of its start. */
async function startOf(limiter: RateLimiter, call: LlmCall): Promise<number> {
  expect(await limiter.admit(call)).to.equal(undefined);
  limiter.begin(call);
  return performance.now();
}

/**
 * Waits for the calls' turns. Returns their numbers in the order of their starts, with the times.
 */
async function starts(
  limiter: RateLimiter,
  calls: readonly LlmCall[],
): Promise<{ readonly order: readonly number[]; readonly times: readonly number[] }> {
  const order: number[] = [];
  const times: number[] = [];
  await Promise.all(
    calls.map(async (call, index) => {
      times.push(await startOf(limiter, call));
      order.push(index);
    }),
  );
  return { order, times };
}

/** A call that begins immediately. */
async function begun(limiter: RateLimiter, call: LlmCall): Promise<LlmCall> {
  expect(limiter.admit(call)).to.equal(undefined);
  limiter.begin(call);
  await new Promise(setImmediate);
  return call;
}

function expectAtMost(times: readonly number[], { requests, periodMs }: RateLimit): void {
  times
    .slice(requests)
    .forEach((time, index) =>
      expect(time - (times[index] ?? 0), `start ${index + requests + 1}`).to.be.at.least(periodMs),
    );
}

describe("the rate limiter", () => {
  it("admits calls immediately if they have no limit, or none is reached", () => {
    const limiter = new RateLimiter();
    expect(limiter.admit(llmCall())).to.equal(undefined);
    expect(limiter.admit(limited([bears(RateLimit.of(1, 1_000))]))).to.equal(undefined);
  });

  it("starts at most n calls in any period, in the order of their arrival, for any bursts", async () => {
    const bursts = fc.array(
      fc.record({ size: fc.integer({ min: 1, max: 5 }), pauseMs: fc.integer({ min: 0, max: 90 }) }),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(bursts, fc.integer({ min: 1, max: 4 }), async (list, requests) => {
        const limit = RateLimit.of(requests, 40);
        const limiter = new RateLimiter();
        const bearer = {};
        const [times, order]: [number[], number[]] = [[], []];
        const pending: Promise<unknown>[] = [];
        for (const { size, pauseMs } of list) {
          for (let n = 0; n < size; n++) {
            const index = pending.length;
            const turn = async (): Promise<void> => {
              times.push(await startOf(limiter, limited([bears(limit, bearer)])));
              order.push(index);
            };
            pending.push(turn());
          }
          await pause(pauseMs);
        }
        await Promise.all(pending);
        expectAtMost(times, limit);
        expect(order).to.deep.equal(pending.map((_, index) => index));
      }),
      { numRuns: 12 },
    );
  });

  it("takes slots in several windows together, each with its own limit", async () => {
    const limiter = new RateLimiter();
    const [narrow, wide] = [bears(RateLimit.of(1, 60)), bears(RateLimit.of(3, 150))];
    const both = Array.from({ length: 5 }, (_, n) =>
      limited(n % 2 === 0 ? [narrow, wide] : [wide, narrow]),
    );
    const { order, times } = await starts(limiter, both);
    expect(order).to.deep.equal([0, 1, 2, 3, 4]);
    expectAtMost(times, narrow.limit);
    expectAtMost(times, wide.limit);
  });

  it("prefers calls of higher priority, and among equal calls the earlier", async () => {
    const limiter = new RateLimiter();
    const one = bears(RateLimit.of(1, 25));
    await begun(limiter, limited([one]));
    const priorities = ["LOW", "NORMAL", "HIGH", undefined, "CRITICAL", "HIGH"] as const;
    const { order, times } = await starts(
      limiter,
      priorities.map((priority) => limited([one], { priority })),
    );
    expect(order).to.deep.equal([4, 2, 5, 1, 3, 0]);
    expectAtMost(times, one.limit);
  });

  it("refuses a call that was overtaken for longer than its maximum wait", async () => {
    const limiter = new RateLimiter();
    const one = bears(RateLimit.of(1, 100).with({ waitTimeoutMs: 150 }));
    await begun(limiter, limited([one]));
    const low = limiter.admit(limited([one], { priority: "LOW" }));
    expect(await limiter.admit(limited([one], { priority: "HIGH" }))).to.equal(undefined); // and never begins
    const verdict = await low;
    expect(RateLimitTimeoutError.isInstance(verdict?.reason)).to.equal(true);
  });

  it("does not delay a call for a limit of other calls, and holds no place for those", async () => {
    const limiter = new RateLimiter();
    const [slow, shared] = [bears(RateLimit.of(1, 5_000)), bears(RateLimit.of(3, 5_000))];
    const stop = new AbortController();
    await begun(limiter, limited([slow, shared]));
    const held = limiter.admit(limited([slow, shared], { signal: stop.signal }));
    await begun(limiter, limited([shared]));
    await begun(limiter, limited([shared]));
    stop.abort(new Error("enough"));
    expect(await rejection(Promise.resolve(held))).to.have.property("message", "enough");
  });

  it("ends a wait immediately with its signal's reason, and passes the slot to the next call", async () => {
    const limiter = new RateLimiter();
    const one = bears(RateLimit.of(1, 200).with({ waitTimeoutMs: 350 })); // the maximum wait is one period, not two
    await begun(limiter, limited([one]));
    const stop = new AbortController();
    const first = limiter.admit(limited([one], { signal: stop.signal }));
    const second = starts(limiter, [limited([one])]);
    stop.abort(new Error("cancelled"));
    expect(await rejection(Promise.resolve(first))).to.have.property("message", "cancelled");
    expect((await second).order).to.deep.equal([0]);
  });

  it("releases the slot of a call that was aborted before it began", async () => {
    const limiter = new RateLimiter();
    const one = bears(RateLimit.of(1, 60_000));
    const stop = new AbortController();
    const call = limited([one], { signal: stop.signal });
    expect(limiter.admit(call)).to.equal(undefined);
    stop.abort(new Error("cancelled"));
    limiter.settle({ ...call, outcome: "aborted", error: new Error("cancelled") });
    await begun(limiter, limited([one]));
    expect(() => limiter.admit(call)).to.throw("cancelled");
  });

  it("leaves no timer without waiting calls", async () => {
    const limiter = new RateLimiter();
    const one = bears(RateLimit.of(1, 20_000));
    await pause(1); // the test runner's own timer is set after the first await
    const before = timers();
    await begun(limiter, limited([one]));
    const stop = new AbortController();
    const waits = [1, 2, 3].map(async () => limiter.admit(limited([one], { signal: stop.signal })));
    expect(timers()).to.equal(before + 1);
    stop.abort(new Error("cancelled"));
    await Promise.allSettled(waits);
    expect(timers()).to.equal(before);
  });

  it("refuses a call whose wait would certainly be too long, without waiting", async () => {
    const limiter = new RateLimiter();
    const limit = RateLimit.of(1, 60_000).with({ waitTimeoutMs: 1_000 });
    const one = bears(limit);
    await begun(limiter, limited([one]));
    const verdict = limiter.admit(limited([one]));
    const reason = verdict !== undefined && "reason" in verdict ? verdict.reason : undefined;
    if (!RateLimitTimeoutError.isInstance(reason)) throw new Error(`no refusal: ${String(reason)}`);
    expect([reason.rateLimit, reason.waitTimeoutMs]).to.deep.equal([limit, 1_000]);
    expect(reason.message).to.equal(
      "Rate limit exceeded: waited 1000ms but no token became available. Limit: 1 requests per 60000ms. Increase waitTimeoutMs or reduce concurrency.",
    );
  });

  it("refuses waiting calls whose maximum wait ends while others are served", async () => {
    const limiter = new RateLimiter();
    const one = bears(RateLimit.of(1, 100).with({ waitTimeoutMs: 150 }));
    const verdicts = Array.from({ length: 5 }, async () => {
      const call = limited([one]);
      const verdict = await limiter.admit(call);
      if (verdict === undefined) limiter.begin(call);
      return verdict?.verb;
    });
    expect(await Promise.all(verdicts)).to.deep.equal([
      undefined,
      undefined,
      "reject",
      "reject",
      "reject",
    ]);
  });

  it("reserves tokens by the length of the request until its usage is known", async () => {
    const limiter = new RateLimiter();
    const one = bears(RateLimit.of(100, 60_000).with({ tokens: 20 }));
    const first = await begun(
      limiter,
      limited([one], {
        request: {
          messages: [{ role: "user", content: [{ type: "text", text: "x".repeat(100) }] }],
        },
      }),
    );
    const second = starts(limiter, [limited([one])]);
    await pause(10);
    limiter.settle({
      ...first,
      outcome: "ok",
      response: { ...response, usage: { inputTokens: 5, outputTokens: 5 } },
    });
    expect((await second).order, "25 were estimated, 10 used: there is room").to.deep.equal([0]);
  });

  it("counts the tokens that a call used, as reported or by length, for a period", async () => {
    for (const answer of [
      { ...response, usage: { inputTokens: 15, outputTokens: 5 } },
      { ...response, message: { role: "assistant" as const, content: "y".repeat(80) } },
    ]) {
      const limiter = new RateLimiter();
      const one = bears(RateLimit.of(100, 60).with({ tokens: 20 }));
      const first = await begun(limiter, limited([one]));
      limiter.settle({ ...first, outcome: "ok", response: answer });
      const settled = performance.now();
      const { times } = await starts(limiter, [limited([one])]);
      expect((times[0] ?? 0) - settled).to.be.at.least(60);
    }
  });

  it("frees the place of a call that was answered or refused without the model", async () => {
    const limiter = new RateLimiter();
    const one = bears(RateLimit.of(1, 60_000));
    const answered = limited([one]);
    expect(limiter.admit(answered)).to.equal(undefined);
    limiter.settle({ ...answered, outcome: "answered", response });
    const rejected = limited([one]);
    expect(limiter.admit(rejected)).to.equal(undefined);
    limiter.settle({ ...rejected, outcome: "rejected", error: new Error("no") });
    await begun(limiter, limited([one]));
  });

  it("pauses a model after a 429 for the time that its vendor requests, and no other model", async () => {
    const limiter = new RateLimiter();
    const [model, other] = [new ScriptedModel([]), new ScriptedModel([])];
    const one = bears(RateLimit.of(100, 10));
    const call = await begun(limiter, limited([one], { model }));
    limiter.settle({
      ...call,
      outcome: "failed",
      error: failed("AE_MODEL_RATE_LIMITED", { retryAfterMs: 90 }),
    });
    const paused = performance.now();
    await begun(limiter, limited([one], { model: other }));
    expect(
      ((await starts(limiter, [limited([one], { model })])).times[0] ?? 0) - paused,
    ).to.be.at.least(90);
  });

  it("refuses immediately if a vendor requests a longer pause than any maximum wait, and pauses a second without a request", async () => {
    const limiter = new RateLimiter();
    const fail = async (
      model: ChatModel,
      o: { readonly retryAfterMs?: number },
    ): Promise<LlmCall> => {
      const call = await begun(
        limiter,
        limited([bears(RateLimit.perSecond(9).with({ waitTimeoutMs: 500 }))], { model }),
      );
      limiter.settle({ ...call, outcome: "failed", error: failed("AE_MODEL_RATE_LIMITED", o) });
      return limited(call.rateLimits, { model });
    };
    for (const o of [{ retryAfterMs: 3_600_000 }, {}])
      expect(await limiter.admit(await fail(new ScriptedModel([]), o))).to.deep.include({
        verb: "reject",
      });
  });

  it("serves thousands of waiting calls without blocking the process", async () => {
    const limiter = new RateLimiter();
    const limit = RateLimit.of(1_000, 50);
    const shared = new AbortController();
    const warnings: Error[] = [];
    const listener = (warning: Error): void => void warnings.push(warning);
    process.on("warning", listener);
    const bearer = {};
    const calls = Array.from({ length: 2_000 }, () =>
      limited([bears(limit, bearer)], { signal: shared.signal }),
    );
    const { order, times } = await starts(limiter, calls);
    expect(order).to.deep.equal(calls.map((_, index) => index));
    expectAtMost(times, limit);
    process.off("warning", listener);
    expect(warnings).to.deep.equal([]);
  });

  it("counts the period from the start of the call, if that is later", async () => {
    const limiter = new RateLimiter();
    const one = bears(RateLimit.of(1, 60));
    const first = limited([one]);
    expect(limiter.admit(first)).to.equal(undefined);
    await pause(40);
    limiter.begin(first);
    const began = performance.now();
    expect(((await starts(limiter, [limited([one])])).times[0] ?? 0) - began).to.be.at.least(60);
  });
});
