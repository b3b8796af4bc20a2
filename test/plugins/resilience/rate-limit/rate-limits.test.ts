import { expect } from "chai";
import type { ChatModel } from "../../../../src/contracts/chat-model.js";
import type { EnsembleEvent } from "../../../../src/contracts/events.js";
import { RateLimitTimeoutError, ValidationError } from "../../../../src/contracts/errors.js";
import { answer } from "../../../../src/contracts/hooks.js";
import { definePlugin } from "../../../../src/contracts/plugin.js";
import { RateLimit } from "../../../../src/contracts/rate-limit.js";
import { Agent, Ensemble, Kernel, Task } from "../../../../src/index.js";
import { openai } from "../../../../src/plugins/providers/openai/index.js";
import { rateLimited } from "../../../../src/plugins/resilience/rate-limit/index.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { OpenAIServer } from "../../../support/openai-server.js";
import { rejection } from "../../../support/rejection.js";

const tasks = (count: number): readonly Task[] =>
  Array.from({ length: count }, (_, n) => Task.of(`Say hello ${n}`));

/** A model that records the start of its calls. */
class TimedModel implements ChatModel {
  readonly provider = "timed";
  readonly modelId = "timed";
  readonly times: number[] = [];
  readonly #inner: ChatModel;
  constructor(inner: ChatModel = new ScriptedModel(() => "Hello")) {
    this.#inner = inner;
  }
  chat: ChatModel["chat"] = (request, options) => {
    this.times.push(performance.now());
    return this.#inner.chat(request, options);
  };
}

function expectAtMost(times: readonly number[], { requests, periodMs }: RateLimit): void {
  expect(times.length).to.be.greaterThan(requests);
  times
    .slice(requests)
    .forEach((time, index) =>
      expect(time - (times[index] ?? 0), `start ${index + requests + 1}`).to.be.at.least(periodMs),
    );
}

describe("rate limits", () => {
  for (const [requests, periodMs, message] of [
    [0, 1_000, "RateLimit requests must be > 0, got: 0"],
    [undefined, 1_000, "RateLimit requests must be > 0, got: undefined"],
    [1, undefined, "RateLimit period must not be null"],
    [1, null, "RateLimit period must not be null"],
    [1, 0, "RateLimit period must be positive, got: 0"],
  ] as const) {
    it(`refuse ${String(requests)} requests in ${String(periodMs)} ms`, () => {
      const make = (): unknown => RateLimit.of(requests as number, periodMs as number); // what JavaScript may pass
      expect(make).to.throw(ValidationError, message);
    });
  }

  it("of an ensemble apply to its parallel tasks and its concurrent runs together, over HTTP", async () => {
    const server = await OpenAIServer.start();
    try {
      const model = new TimedModel(openai("gpt-test", { apiKey: "k", baseURL: server.url }));
      const rateLimit = RateLimit.of(4, 150);
      await using ensemble = new Ensemble({
        model,
        rateLimit,
        workflow: "PARALLEL",
        tasks: tasks(6),
      });
      const outputs = await Promise.all([ensemble.run(), ensemble.run()]);
      expect(outputs.map(({ taskOutputs }) => taskOutputs.length)).to.deep.equal([6, 6]);
      expect(server.requests).to.have.length(12);
      expectAtMost(model.times, rateLimit);
    } finally {
      await server.close();
    }
  });

  it("of an agent, a task and a model apply to their owner", async () => {
    const limit = RateLimit.of(1, 60);
    const agent = new Agent({ role: "Greeter", goal: "Greet", rateLimit: limit });
    const [byAgent, byModel, byTask, free] = [
      new TimedModel(),
      new TimedModel(),
      new TimedModel(),
      new TimedModel(),
    ];
    const limitedTask = new Task({ description: "Say hello", rateLimit: limit });
    await using kernel = new Kernel();
    const run = async (model: ChatModel, list: readonly Task[]): Promise<unknown> =>
      new Ensemble({ kernel, model, workflow: "PARALLEL", tasks: list }).run();
    await Promise.all([
      run(
        byAgent,
        [1, 2, 3].map((n) => new Task({ description: `Greet ${n}`, agent })),
      ),
      run(rateLimited(byModel, limit), tasks(3)),
      run(byTask, [limitedTask]),
      run(byTask, [limitedTask]),
      run(free, tasks(3)),
    ]);
    for (const { times } of [byAgent, byModel, byTask]) expectAtMost(times, limit);
    expect(free.times).to.have.length(3);
  });

  it("of an ensemble do not apply to tasks and agents with a model or their own limit", async () => {
    const rateLimit = RateLimit.of(1, 60_000).with({ waitTimeoutMs: 20 });
    const own = new Task({ description: "Say hello", model: new ScriptedModel(["Hello"]) });
    const generous = new Task({
      description: "Say hello too",
      rateLimit: RateLimit.perSecond(100),
    });
    await using ensemble = new Ensemble({
      model: new ScriptedModel(() => "Hello"),
      rateLimit,
      workflow: "PARALLEL",
      tasks: [own, generous, ...tasks(1)],
    });
    expect((await ensemble.run()).isComplete).to.equal(true);
  });

  it("delay a call that would exceed them, and report the delay once", async () => {
    const events: EnsembleEvent[] = [];
    const model = new ScriptedModel(() => "Hello");
    await using ensemble = new Ensemble({
      model,
      rateLimit: RateLimit.of(1, 50),
      workflow: "PARALLEL",
      tasks: tasks(2),
      on: (e) => void events.push(e),
    });
    await ensemble.run();
    const waits = events.filter((e) => e.type === "rate_limited");
    expect(waits).to.have.length(1);
    expect(waits[0]).to.deep.include({ taskId: "task-2", requests: 1, periodMs: 50 });
    expect(waits[0]?.waitMs).to.be.within(1, 70);
  });

  it("fail the task when the wait is too long, with an error that contains the limit", async () => {
    const limit = RateLimit.perMinute(1).with({ waitTimeoutMs: 5_000 });
    await using ensemble = new Ensemble({
      model: new ScriptedModel(() => "Hello"),
      rateLimit: limit,
      tasks: tasks(2),
    });
    const error = await rejection(ensemble.run());
    expect(RateLimitTimeoutError.find(error)?.rateLimit).to.equal(limit);
    expect(error).to.have.property("code", "AE_TASK_EXECUTION");
  });

  it("do not delay the end of a cancelled run", async () => {
    const model = new ScriptedModel(() => "Hello");
    await using ensemble = new Ensemble({
      model,
      rateLimit: RateLimit.perMinute(1).with({ waitTimeoutMs: 100_000 }),
      workflow: "PARALLEL",
      tasks: tasks(20),
    });
    const stop = new AbortController();
    const run = ensemble.run({}, { signal: stop.signal });
    setTimeout(() => stop.abort(), 30);
    expect(await rejection(run)).to.have.property("code", "AE_RUN_CANCELLED");
    expect(model.requests).to.have.length(1);
  });

  it("do not count answers without a model call", async () => {
    const cache = definePlugin({
      name: "cache",
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap({ name: "cache", lane: "answer" }, () =>
          answer({ message: { role: "assistant", content: "Known" }, finishReason: "stop" }),
        ),
    });
    const rateLimit = RateLimit.perMinute(1).with({ waitTimeoutMs: 20 });
    await using ensemble = new Ensemble({
      model: new ScriptedModel([]),
      rateLimit,
      tasks: tasks(3),
      plugins: [cache],
    });
    expect((await ensemble.run()).raw).to.equal("Known");
  });
});

describe("rateLimited", () => {
  it("passes calls to the model, whose private state and stream continue to work", async () => {
    const inner = new ScriptedModel(["Hello", { chunks: ["Hel", "lo"] }]);
    const model = rateLimited(inner, RateLimit.perSecond(5));
    expect([model.provider, model.modelId, model.rateLimit?.requests]).to.deep.equal([
      "scripted",
      "scripted",
      5,
    ]);
    expect((await model.chat({ messages: [] })).message.content).to.equal("Hello");
    const texts: string[] = [];
    for await (const chunk of model.stream?.({ messages: [] }) ?? [])
      if (chunk.type === "text") texts.push(chunk.text);
    expect(texts).to.deep.equal(["Hel", "lo"]);
  });

  it("has the capabilities of the model, and no stream if the model has none", () => {
    const capabilities = { structuredOutput: true, retry: { maxAttempts: 3 } };
    const model = rateLimited(
      {
        provider: "test",
        modelId: "m",
        capabilities,
        chat: () => Promise.reject(new Error("unused")),
      },
      RateLimit.perSecond(5),
    );
    expect(model.capabilities).to.equal(capabilities);
    expect(model.stream).to.equal(undefined);
  });

  it("keeps the model's own limit, and shares its window", async () => {
    const timed = new TimedModel();
    const narrow = RateLimit.of(1, 60);
    const inner = rateLimited(timed, narrow);
    const outer = [
      rateLimited(inner, RateLimit.perSecond(100)),
      rateLimited(rateLimited(inner, RateLimit.perSecond(100)), RateLimit.perSecond(100)),
    ];
    const limited = outer.map((model, n) => new Task({ description: `Say hello ${n}`, model }));
    await using ensemble = new Ensemble({
      workflow: "PARALLEL",
      tasks: [...limited, new Task({ description: "Say hello", model: inner })],
    });
    await ensemble.run();
    expectAtMost(timed.times, narrow);
  });

  it("refuses an invalid model and an invalid limit", () => {
    const model = new ScriptedModel([]);
    expect(() => rateLimited("openai:gpt-4o" as never, RateLimit.perSecond(1))).to.throw(
      ValidationError,
      /openai:gpt-4o/,
    );
    expect(() => rateLimited({} as never, RateLimit.perSecond(1))).to.throw(
      ValidationError,
      /rateLimited model/,
    );
    expect(() => rateLimited(model, { requests: 1 } as never)).to.throw(
      ValidationError,
      /rateLimited limit/,
    );
    expect(() => rateLimited(model, undefined as never)).to.throw(ValidationError, /undefined/);
  });
});
