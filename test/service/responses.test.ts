import { expect } from "chai";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { limitedResponse, jsonBytes } from "../../src/service/work-response.js";
import { Ensemble, RateLimit, Task, definePlugin, Tokens } from "../../src/index.js";
import type { ChatModel, EnsembleOptions, TraceContext } from "../../src/index.js";
import { budget } from "../../src/resilience.js";
import { SteppingClock } from "./stepping-clock.js";
import { aborted, ask, eventLog, handlerTask, requests } from "./support.js";

/** Answers each call with its number, and reports 10 and 5 tokens. */
function countingModel(): ChatModel {
  let calls = 0;
  return {
    provider: "test",
    modelId: "counting",
    capabilities: { tools: true, jsonSchema: false, streaming: false },
    chat: async () => ({
      message: { role: "assistant", content: `answer ${++calls}` },
      finishReason: "stop",
      usage: { inputTokens: 10, outputTokens: 5 },
    }),
  } as unknown as ChatModel; // what the tests use of it
}

function serving(options: Partial<EnsembleOptions>): Ensemble {
  return new Ensemble({ name: "kitchen", ...options });
}

describe("the response of a service", () => {
  it("contains the usage of the run, added up by model, with costs", async () => {
    const backend = NetworkBackend.inMemory();
    const first = Task.of("Cook {context}");
    await using kitchen = serving({
      model: countingModel(),
      costConfiguration: { inputTokenRate: 0.01, outputTokenRate: 0.02 },
      shareTasks: { cook: Task.of("Serve").with({ context: [first] }) },
    });
    await using _service = await kitchen.start({ backend });
    const response = await ask(backend, requests()("cook", { context: "soup" }));
    expect(response).to.include({ status: "COMPLETED", result: "answer 2" });
    expect(response.usage).to.deep.equal([
      {
        source: "kitchen",
        provider: "test",
        modelId: "counting",
        inputTokens: 20,
        outputTokens: 10,
        calls: 2,
        cost: 0.4,
        currency: "USD",
      },
    ]);
  });

  it("is delayed by one rate limit for all shared tasks and tools", async () => {
    const backend = NetworkBackend.inMemory();
    await using kitchen = serving({
      model: countingModel(),
      rateLimit: RateLimit.of(2, 60_000).with({ waitTimeoutMs: 1 }),
      shareTasks: { cook: Task.of("Cook {context}"), bake: Task.of("Bake {context}") },
    });
    await using _service = await kitchen.start({ backend });
    const request = requests({ context: "it" });
    const statuses = [];
    for (const task of ["cook", "bake", "cook"])
      statuses.push((await ask(backend, request(task))).status);
    expect(statuses).to.deep.equal(["COMPLETED", "COMPLETED", "FAILED"]);
  });

  it("respects the budget of the request, and is FAILED BUDGET with the usage", async () => {
    const backend = NetworkBackend.inMemory();
    const second = Task.of("Serve");
    await using kitchen = serving({
      model: countingModel(),
      shareTasks: { cook: second.with({ context: [Task.of("Cook {context}")] }) },
    });
    await using _service = await kitchen.start({ backend });
    const request = requests();
    const response = await ask(
      backend,
      request("cook", { context: "soup", budget: { maxTokens: 150 } }),
    );
    expect(response).to.include({ status: "FAILED", reason: "BUDGET" });
    const priced = await ask(backend, request("cook", { context: "soup", budget: { maxCost: 1 } }));
    expect(priced).to.include({ status: "REJECTED", reason: "INVALID_INPUT" });
    expect(priced.error).to.contain("has no prices");
  });

  it("is FAILED BUDGET if the ensemble's own budget of a run is used up", async () => {
    const backend = NetworkBackend.inMemory();
    const model = countingModel();
    const cook = Task.of("Cook {context}");
    await using kitchen = serving({
      ...{ model, shareTasks: { cook }, tasks: [cook], shareRun: true },
      plugins: [budget({ maxTokens: 20 })],
    });
    await using _service = await kitchen.start({ backend });
    const request = requests({ context: "soup" });
    for (const one of [request("cook"), request("run", { type: "RUN" })])
      expect(await ask(backend, one)).to.include({ status: "FAILED", reason: "BUDGET" });
  });

  it("is FAILED after the time limit of the shared task", async () => {
    const backend = NetworkBackend.inMemory();
    const stuck = handlerTask(({ signal }) => aborted(signal));
    await using kitchen = serving({ shareTasks: { stuck: { task: stuck, timeoutMs: 20 } } });
    await using _service = await kitchen.start({ backend });
    const response = await ask(backend, requests()("stuck"));
    expect(response).to.include({ status: "FAILED", reason: "RUN_FAILED" });
    expect(response.error).to.contain("20");
  });

  it("is kept as long as the shared task requests, else as long as the service sets", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const task = handlerTask(() => "soup");
    await using kitchen = serving({
      shareTasks: { short: { task, resultTtlMs: 1_000 }, other: task },
      plugins: [clock.plugin()],
    });
    await using _service = await kitchen.start({ backend, resultTtlMs: 5_000 });
    const request = requests();
    const ids: string[] = [];
    for (const one of [request("short"), request("other")])
      ids.push((await ask(backend, one)).requestId);
    const known = async () =>
      (await Promise.all(ids.map((id) => backend.results.retrieve(id)))).map((one) => one?.result);
    expect(await known()).to.deep.equal(["soup", "soup"]);
    await clock.advance(1_500);
    expect(await known()).to.deep.equal([undefined, "soup"]);
    await clock.advance(4_000);
    expect(await known()).to.deep.equal([undefined, undefined]);
  });

  it("is FAILED RUN_FAILED with a text without secrets and hints", async () => {
    const backend = NetworkBackend.inMemory();
    const fail = handlerTask((): string => {
      throw new Error("the password: hunter2 is wrong");
    });
    await using kitchen = serving({ shareTasks: { fail } });
    await using _service = await kitchen.start({ backend });
    const response = await ask(backend, requests()("fail"));
    expect(response).to.include({ status: "FAILED", reason: "RUN_FAILED" });
    expect(JSON.stringify(response)).not.to.contain("hunter2");
  });

  it("is cut if it is too large: the text to complete characters, without the value", () => {
    const response = {
      v: 1,
      requestId: "r",
      status: "COMPLETED",
      result: '"\u{1F600}'.repeat(200),
      parsed: [1],
      durationMs: 1,
    } as const;
    expect(limitedResponse(response, 10_000)).to.equal(response);
    for (let limit = 200; limit < 220; limit++) {
      const cut = limitedResponse(response, limit);
      expect(cut.truncated).to.equal(true);
      expect(cut).not.to.have.property("parsed");
      expect(jsonBytes(cut)).to.be.within(limit - 6, limit);
      expect(cut.result).not.to.match(/[\uD800-\uDBFF]$/);
    }
  });

  it("is kept cut, with a warning, if a task returns 40 MB", async () => {
    const backend = NetworkBackend.inMemory();
    const log = eventLog();
    const print = handlerTask(() => "x".repeat(40_000_000));
    await using kitchen = serving({ shareTasks: { print } });
    await using _service = await kitchen.start({ backend, listeners: [log.listener] });
    const response = await ask(backend, requests()("print"));
    expect(response).to.include({ status: "COMPLETED", truncated: true });
    expect(jsonBytes(response)).to.be.within(16_000_000, 16 * 1_024 * 1_024);
    expect(log.shown().filter((one) => one.includes("was cut"))).to.have.lengthOf(1);
  });

  it("stays within the limit if the error, the usage or the parsed value is too long", () => {
    const short = { v: 1, requestId: "r", status: "FAILED", durationMs: 1 } as const;
    const used = { source: "kitchen", provider: "p", modelId: "m", inputTokens: 1 };
    const few = [used];
    const many = Array.from({ length: 2_000 }, () => used);
    const parts = [
      { parsed: "x".repeat(100_000) },
      { error: "x".repeat(100_000), usage: few },
      { usage: many },
      { usage: many, error: "x".repeat(100_000), parsed: ["x".repeat(100_000)], result: "y" },
    ];
    const cut = parts.map((part) => limitedResponse({ ...short, ...part }, 50_000));
    for (const each of cut) expect(jsonBytes(each)).to.be.at.most(50_000);
    expect(cut.map(({ truncated }) => truncated)).to.deep.equal([true, true, true, true]);
    expect(cut[1]?.usage).to.deep.equal(few);
    expect(cut[1]?.error).to.have.length(10_000);
    expect(cut.map((each) => "result" in each)).to.deep.equal([false, false, false, true]);
  });

  it("is cut to the longest beginning that fits, with any characters", () => {
    const characters = ["x", '"', "\n", "\u0001", "\u00e9", "\u20ac", "\u{1F600}"];
    for (const [i, character] of characters.entries()) {
      const result = `${"-".repeat(i)}${character.repeat(150_000)}`;
      const response = {
        v: 1,
        requestId: "r",
        status: "COMPLETED",
        result,
        durationMs: 1,
      } as const;
      const cut = limitedResponse(response, 140_000);
      const kept = cut.result ?? "";
      expect(result.startsWith(kept)).to.equal(true);
      const more = Array.from(result.slice(kept.length, kept.length + 4))[0] ?? "";
      expect(jsonBytes(cut)).to.be.at.most(140_000);
      expect(jsonBytes({ ...cut, result: kept + more })).to.be.above(140_000);
    }
  });

  it("is returned again for a repeated id, and refused for other content", async () => {
    const backend = NetworkBackend.inMemory();
    let calls = 0;
    await using kitchen = serving({ shareTasks: { count: handlerTask(() => String(++calls)) } });
    await using _service = await kitchen.start({ backend });
    const request = requests()("count");
    await ask(backend, request);
    expect(await ask(backend, request)).to.include({ result: "1" });
    expect(calls).to.equal(1);
  });

  it("is shared by requests with one cache key, until it expires or FORCE_FRESH is requested", async () => {
    const backend = NetworkBackend.inMemory();
    let calls = 0;
    await using kitchen = serving({ shareTasks: { count: handlerTask(() => String(++calls)) } });
    await using _service = await kitchen.start({ backend });
    const request = requests();
    const cached = async (policy: "USE_CACHED" | "FORCE_FRESH", maxAgeMs = 60_000) => {
      const cache = { policy, key: "k", maxAgeMs };
      const { result, requestId } = await ask(backend, request("count", { cache }));
      return `${requestId}: ${result}`;
    };
    expect(await cached("USE_CACHED")).to.equal("request-1: 1");
    expect(await cached("USE_CACHED")).to.equal("request-2: 1");
    expect(await cached("FORCE_FRESH")).to.equal("request-3: 2");
    expect(await cached("USE_CACHED")).to.equal("request-4: 2");
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await cached("USE_CACHED", 1)).to.equal("request-5: 3");
  });

  it("is sent to a topic if requested, and is stored without output for NONE", async () => {
    const backend = NetworkBackend.inMemory();
    await using kitchen = serving({ shareTasks: { echo: handlerTask(() => "soup") } });
    await using service = await kitchen.start({ backend });
    const messages: unknown[] = [];
    await backend.topics.subscribe("served", (message) => messages.push(message));
    const request = requests();
    const delivery = { method: "TOPIC", address: "served" } as const;
    await ask(backend, request("echo", { delivery }));
    const silent = await ask(backend, request("echo", { delivery: { method: "NONE" } }));
    await service.stop();
    expect(messages).to.deep.include.members([{ ...(messages[0] as object) }]);
    expect(messages[0]).to.include({ requestId: "request-1", result: "soup" });
    expect(silent).to.include({ status: "COMPLETED" });
    expect(silent).not.to.have.property("result");
  });

  it("belongs to the trace of the request", async () => {
    const backend = NetworkBackend.inMemory();
    const contexts: (TraceContext | undefined)[] = [];
    const tracing = definePlugin({
      name: "test-tracing",
      bind: (bind) =>
        void bind.single(Tokens.TracePropagation).toConstantValue({
          inject: () => undefined,
          within: (context, fn) => {
            contexts.push(context);
            return fn();
          },
        }),
    });
    await using kitchen = serving({
      shareTasks: { echo: handlerTask(() => "soup") },
      plugins: [tracing],
    });
    await using _service = await kitchen.start({ backend });
    const traceContext = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` };
    await ask(backend, requests()("echo", { traceContext }));
    expect(contexts).to.deep.equal([traceContext]);
  });

  it("is reported to listeners, and a failing listener has no effect", async () => {
    const backend = NetworkBackend.inMemory();
    const log = eventLog();
    await using kitchen = serving({ shareTasks: { echo: handlerTask(() => "soup") } });
    const failing = (): void => {
      throw new Error("broken listener");
    };
    await using service = await kitchen.start({
      backend,
      listeners: [failing, log.listener],
      instance: "a",
    });
    const leave = service.on(log.listener);
    await ask(backend, requests()("echo"));
    leave();
    await service.stop();
    const [first] = log.events;
    expect(first).to.include({ v: 1, seq: 1, ensemble: "kitchen", instance: "a" });
    expect(log.events.filter(({ type }) => type === "request_started").length).to.equal(2);
    expect(log.events.filter(({ type }) => type === "service_state").length).to.equal(4);
  });
});
