import { expect } from "chai";
import type {
  ChatModel,
  RateRequest,
  RateTurn,
  RateWait,
  RateWindow,
} from "../../../../src/index.js";
import {
  Agent,
  Ensemble,
  Kernel,
  LimitStoreError,
  RateLimit,
  Task,
  Tokens,
  definePlugin,
} from "../../../../src/index.js";
import { LocalRateWindow } from "../../../../src/plugins/resilience/rate-limit/local-rate-window.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { rateWindowContract } from "../../../../src/testing.js";
import { rejection } from "../../../support/rejection.js";
import { pause } from "../../../support/time.js";
import { failuresOf } from "../../testing/failures-of.js";

/** A window that answers after a tick and counts by key, like an external store. */
class RemoteWindow implements RateWindow {
  readonly keys = new Set<string>();
  readonly #owners = new Map<string, object>();
  readonly #local = new LocalRateWindow();

  async take(request: RateRequest): Promise<RateTurn | RateWait> {
    await new Promise(setImmediate);
    const limits = request.limits.map(({ key, limit }) => {
      this.keys.add(key);
      const owner = this.#owners.get(key) ?? {};
      this.#owners.set(key, owner);
      return { key, owner, limit };
    });
    return this.#local.take({ ...request, limits });
  }
}

rateWindowContract("in process", { create: () => ({ window: new LocalRateWindow() }) });
rateWindowContract("elsewhere", {
  shares: true,
  create: () => {
    const window = new RemoteWindow();
    return { window, other: { take: (request) => window.take(request) } };
  },
});

function kernelWith(window: RateWindow): Kernel {
  return new Kernel().use(
    definePlugin({
      name: "test-window",
      bind: (bind) => void bind.single(Tokens.RateWindow).toConstantValue(window),
    }),
  );
}

const tasks = (count: number): readonly Task[] =>
  Array.from({ length: count }, (_, n) => Task.of(`Say hello ${n}`));

describe("Tokens.RateWindow", () => {
  it("shares one limit between two kernels with an asynchronous window", async () => {
    const times: number[] = [];
    const inner = new ScriptedModel(() => "Hello");
    const model: ChatModel = {
      provider: "timed",
      modelId: "timed",
      chat: (request, options) => {
        times.push(performance.now());
        return inner.chat(request, options);
      },
    };
    const window = new RemoteWindow();
    const team = (): Ensemble =>
      new Ensemble({
        kernel: kernelWith(window),
        name: "fleet",
        model,
        rateLimit: RateLimit.of(2, 80), // a separate object for each
        workflow: "PARALLEL",
        tasks: tasks(4),
      });
    await Promise.all([team().run(), team().run()]);
    expect(times).to.have.lengthOf(8);
    times.slice(2).forEach((time, index) => expect(time - (times[index] ?? 0)).to.be.at.least(80));
    expect([...window.keys]).to.deep.equal(["ensemble:fleet"]);
  });

  it("uses the same names of agents, tasks and models in every process", async () => {
    const window = new RemoteWindow();
    const rateLimit = RateLimit.perMinute(100);
    const model = Object.assign(new ScriptedModel(() => "Hello"), { rateLimit });
    await new Ensemble({
      kernel: kernelWith(window),
      name: "fleet",
      tasks: [
        new Task({
          name: "greet",
          description: "Say hello",
          rateLimit,
          agent: new Agent({ role: "Greeter", goal: "Greet", model, rateLimit }),
        }),
      ],
    }).run();
    expect([...window.keys]).to.deep.equal([
      "agent:Greeter",
      "task:fleet/greet",
      `model:${model.provider}:${model.modelId}`,
    ]);
  });

  it("fails the call and calls no model if the window fails", async () => {
    const model = new ScriptedModel(() => "Hello");
    const window: RateWindow = { take: () => Promise.reject(new Error("the store is gone")) };
    const error = await rejection(
      new Ensemble({
        kernel: kernelWith(window),
        model,
        rateLimit: RateLimit.perMinute(10),
        tasks: tasks(1),
      }).run(),
    );
    const messages: string[] = [];
    for (let e: unknown = error; e instanceof Error; e = e.cause) messages.push(e.message);
    expect(messages.join(" ")).to.include("the store is gone");
    expect(model.requests).to.deep.equal([]);
  });
});

describe("a rate window that does not answer", () => {
  const limited = (window: RateWindow, model: ScriptedModel, count = 1): Ensemble =>
    new Ensemble({
      kernel: kernelWith(window),
      model,
      rateLimit: RateLimit.perMinute(10),
      workflow: "PARALLEL",
      parallelErrorStrategy: "CONTINUE_ON_ERROR",
      tasks: tasks(count),
    });

  it("fails the calls after its time limit, and calls no model", async () => {
    const model = new ScriptedModel(() => "Hello");
    const window: RateWindow = { timeoutMs: 20, take: () => new Promise(() => undefined) };
    const error = await rejection(limited(window, model, 3).run());
    expect(LimitStoreError.find(error)?.code).to.equal("AE_LIMIT_STORE");
    expect(model.requests).to.deep.equal([]);
  });

  it("returns a slot that it grants too late", async () => {
    const ended: number[] = [];
    let answer: (turn: RateTurn) => void = () => undefined;
    const window: RateWindow = {
      timeoutMs: 20,
      take: () => new Promise<RateTurn>((resolve) => void (answer = resolve)),
    };
    await rejection(limited(window, new ScriptedModel(() => "Hello")).run());
    answer({ begin: () => expect.fail("no model was called"), end: (used) => ended.push(used) });
    await pause();
    expect(ended).to.deep.equal([0]);
  });

  it("ends the wait of a call with the run", async () => {
    const stop = new AbortController();
    const window: RateWindow = { take: () => new Promise(() => void setImmediate(abort)) };
    const abort = (): void => stop.abort(new Error("enough"));
    const { signal } = stop;
    const error = await rejection(
      limited(window, new ScriptedModel(() => "Hello")).run({}, { signal }),
    );
    expect(LimitStoreError.find(error)).to.equal(undefined);
    expect(error).to.have.property("code", "AE_RUN_CANCELLED");
  });
});

/** Checks for a place, and takes it after a tick. */
class CarelessWindow implements RateWindow {
  readonly #places: RateTurn[] = [];

  async take({ limits }: RateRequest): Promise<RateTurn | RateWait> {
    const isFree = limits.every(
      ({ limit }) => limit.periodMs < 1_000 || this.#places.length < limit.requests,
    );
    await new Promise(setImmediate);
    const turn = { begin: () => undefined, end: () => undefined };
    if (isFree) this.#places.push(turn);
    return isFree ? turn : { waits: limits.map(() => ({ openMs: 1, atLeastMs: 1 })) };
  }
}

describe("rateWindowContract", () => {
  it("detects windows whose last place two processes take", async () => {
    const failures = await failuresOf(() =>
      rateWindowContract("careless", {
        shares: true,
        create: () => {
          const window = new CarelessWindow();
          return { window, other: window };
        },
      }),
    );
    expect(failures).to.include(
      "grants the last place to only one of two processes that request it at once",
    );
    expect(failures).not.to.include("counts the calls of other processes under the same key");
  });

  const breaches: Readonly<Record<string, readonly [string, RateWindow]>> = {
    "admits every call": [
      "starts no more calls than the limit allows, and returns the wait of the next call",
      { take: () => ({ begin: () => undefined, end: () => undefined }) },
    ],
    "admits no call": [
      "frees a granted place whose call never begins",
      { take: () => ({ waits: [{ openMs: 1, atLeastMs: 1 }] }) },
    ],
  };
  for (const [what, [title, window]] of Object.entries(breaches)) {
    it(`detects a window that ${what}`, async () => {
      const failures = await failuresOf(() =>
        rateWindowContract("broken", { create: () => ({ window }) }),
      );
      expect(failures).to.include(title);
    });
  }
});
