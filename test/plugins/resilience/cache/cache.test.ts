import type { CachedResponse, CacheOptions, ResponseStore } from "agentensemble/resilience";
import type { ChatModel, EnsembleOptions, FinishReason } from "agentensemble";
import {
  Agent,
  Ensemble,
  Kernel,
  Task,
  Tokens,
  definePlugin,
  reject,
  replace,
  standardPlugins,
  tool,
} from "agentensemble";
import { openai, type OpenAIOptions } from "agentensemble/providers/openai";
import { budget, cache, RateLimit, rateLimited } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd, type Ended } from "../../../support/kernel-fixtures.js";
import { OpenAIServer } from "../../../support/openai-server.js";
import { pause } from "../../../support/time.js";

const agent = new Agent({ role: "r", goal: "g" });
const say = (description: string, name?: string): Task =>
  new Task({ description, agent, ...(name !== undefined && { name }) });
const usage = { inputTokens: 10, outputTokens: 5 };
const answering = (): ScriptedModel =>
  new ScriptedModel((_, i) => ({ text: `answer ${i + 1}`, usage }));
const caching = (options: CacheOptions, o: EnsembleOptions): Promise<Ended> =>
  runToEnd({ ...o, plugins: [cache(options), ...(o.plugins ?? [])] });
const raws = ({ output }: Ended): string[] => output.taskOutputs.map(({ raw }) => raw);
const warnings = ({ events }: Ended): string[] =>
  events.filter((e) => e.type === "run_warning").map(({ message }) => message);
const twice = (text = "Say"): Task[] => [say(text, "a"), say(text, "b")];

/** A store that shows what it has. */
function watched(
  entries = new Map<string, CachedResponse>(),
): ResponseStore & { readonly entries: Map<string, CachedResponse> } {
  return {
    entries,
    get: async (key) => entries.get(key),
    set: async (key, entry) => void entries.set(key, entry),
  };
}

describe("cache()", () => {
  it("refuses invalid options", () => {
    const store = watched();
    const bad: unknown[] = [
      null,
      { size: 1 },
      { ttlMs: 0 },
      { ttlMs: NaN },
      { maxEntries: 0 },
      { store: {} },
      { store: "redis" },
      { store, maxEntries: 5 },
      { excludePurposes: "task" },
      { excludePurposes: ["tasks"] },
      { excludePurposes: [undefined] },
      { timeoutMs: 0 },
    ];
    for (const options of bad)
      expect(() => cache(options as CacheOptions), JSON.stringify(options))
        .to.throw()
        .with.property("code", "AE_VALIDATION");
  });

  it("answers an equal request without the model, at no cost", async () => {
    const model = answering();
    const ended = await caching({}, { model, tasks: [...twice(), say("Something else")] });
    expect(raws(ended)).to.deep.equal(["answer 1", "answer 1", "answer 2"]);
    expect(ended.output.metrics.ledger.map((r) => [r.outcome, r.inputTokens])).to.deep.equal([
      ["ok", 10],
      ["answered", 0],
      ["ok", 10],
    ]);
    expect(ended.output.metrics.totalTokens).to.equal(30);
  });

  it("streams a cached answer in one piece, even if tokens are held back", async () => {
    for (const streaming of [true, "guarded"] as const) {
      const model = new ScriptedModel([{ chunks: ["an ", "answer"] }]);
      const { events } = await caching({}, { model, tasks: twice(), streaming });
      const tokens = events.flatMap((e) => (e.type === "token" ? [[e.taskId, e.token]] : []));
      expect(tokens, String(streaming)).to.deep.equal([
        ["a", "an "],
        ["a", "answer"],
        ["b", "an answer"],
      ]);
    }
  });

  it("distinguishes models, and settings of the call", async () => {
    const models = [
      new ScriptedModel(() => "x", { modelId: "one" }),
      new ScriptedModel(() => "x", { modelId: "two" }),
    ];
    const tasks = [
      ...models.map((model) => new Task({ description: "Say", agent: agent.with({ model }) })),
      new Task({
        description: "Say",
        agent: agent.with({ model: models[0] }),
        modelOptions: { temperature: 1 },
      }),
    ];
    await caching({}, { tasks });
    expect(models.map(({ requests }) => requests.length)).to.deep.equal([2, 1]);
  });

  it("is shared by all runs of a kernel", async () => {
    const model = answering();
    const kernel = new Kernel({ plugins: [...standardPlugins(), cache()] });
    for (let i = 0; i < 3; i++) await new Ensemble({ kernel, model, tasks: [say("Say")] }).run();
    expect(model.requests).to.have.length(1);
    await kernel.dispose();
  });

  it("repeats a conversation with tools, with distinct ids within the conversation", async () => {
    const used: string[] = [];
    const look = tool({
      name: "look",
      description: "Looks",
      execute: (_i, ctx) => (used.push(ctx.toolCallId), "seen"),
    });
    const model = new ScriptedModel([
      { toolCalls: [{ name: "look", arguments: {}, id: "same" }] },
      "done",
      "not reached",
    ]);
    const looking = (name: string): Task =>
      new Task({ name, description: "Look", agent: agent.with({ tools: [look] }) });
    const ended = await caching({}, { model, tasks: [looking("a"), looking("b")] });
    expect(raws(ended)).to.deep.equal(["done", "done"]);
    expect(used).to.deep.equal(["same", "same"]);
    expect(model.requests).to.have.length(2);

    const entry = (id: string): CachedResponse => ({
      storedAt: 0,
      response: {
        message: {
          role: "assistant",
          content: "",
          toolCalls: [{ id, name: "look", arguments: "{}" }],
        },
        finishReason: "tool_calls",
      },
    });
    const two: (CachedResponse | undefined)[] = [entry("x"), entry("x"), undefined];
    used.length = 0;
    await caching(
      { store: { get: () => two.shift(), set: () => undefined } },
      { model: answering(), tasks: [looking("a")] },
    );
    expect(used).to.deep.equal(["x", "x-2"]);
  });

  it("keeps only complete answers of calls that succeeded", async () => {
    for (const finishReason of ["length", "content_filter", "other", "stop"] as FinishReason[]) {
      const model: ChatModel = {
        provider: "p",
        modelId: "m",
        chat: async () => ({ message: { role: "assistant", content: "x" }, finishReason }),
      };
      const store = watched();
      await caching({ store }, { model, tasks: [say("Say")] });
      expect(store.entries.size, finishReason).to.equal(finishReason === "stop" ? 1 : 0);
    }
    const store = watched();
    const refusing = definePlugin({
      name: "no",
      apply: ({ hooks }) =>
        hooks.afterLlmCall.tap({ name: "no", lane: "policy" }, () => reject("no")),
    });
    await caching({ store }, { model: answering(), tasks: [say("Say")], plugins: [refusing] });
    expect(store.entries.size).to.equal(0);
  });

  it("stores neither the request nor its usage", async () => {
    const store = watched();
    const secret = new Task({
      description: "my password is swordfish",
      agent,
      modelOptions: { providerOptions: { apiKey: "sk-secret" } },
    });
    await caching({ store }, { model: answering(), tasks: [secret] });
    const text = JSON.stringify([...store.entries]);
    expect(text).to.not.match(/swordfish|sk-secret|Tokens/);
    expect([...store.entries.keys()][0]).to.match(/^[0-9a-f]{64}$/);
  });

  it("drops entries after ttlMs", async () => {
    let now = 1_000;
    const clock = definePlugin({
      name: "clock",
      bind: (bind) =>
        void bind
          .single(Tokens.Clock)
          .toConstantValue({ now: () => new Date(now), monotonicMs: () => now }),
    });
    const wait = (ms: number): Task =>
      new Task({ description: "wait", handler: () => ((now += ms), "waited") });
    const model = answering();
    await caching(
      { ttlMs: 100 },
      {
        model,
        tasks: [say("Say", "a"), wait(99), say("Say", "b"), wait(1), say("Say", "c")],
        plugins: [clock],
      },
    );
    expect(model.requests).to.have.length(2);
  });

  it("keeps at most maxEntries, the most recently used", async () => {
    const model = answering();
    const tasks = ["A", "B", "A", "C", "A", "B"].map((text, i) => say(text, `t${i}`));
    expect(raws(await caching({ maxEntries: 2 }, { model, tasks }))).to.deep.equal([
      "answer 1",
      "answer 2",
      "answer 1",
      "answer 3",
      "answer 1",
      "answer 4",
    ]);
  });

  it("bypasses calls with excluded purposes", async () => {
    const model = answering();
    await caching({ excludePurposes: ["task"] }, { model, tasks: twice() });
    expect(model.requests).to.have.length(2);
  });

  it("calls the model if its store throws, hangs, or returns an invalid answer", async () => {
    const broken: Record<string, ResponseStore> = {
      throws: {
        get: () => Promise.reject(new Error("away")),
        set: () => Promise.reject(new Error("away")),
      },
      hangs: { get: () => new Promise(() => undefined), set: () => new Promise(() => undefined) },
      nonsense: { get: () => ({ response: "x" }) as never, set: () => undefined },
    };
    for (const [name, store] of Object.entries(broken)) {
      const ended = await caching(
        { store, timeoutMs: 10 },
        { model: answering(), tasks: [say("Say")] },
      );
      expect(raws(ended), name).to.deep.equal(["answer 1"]);
      expect(warnings(ended).join(), name).to.include("cache");
      if (name === "hangs")
        expect(warnings(ended).join()).to.include("did not answer within 10 ms");
    }
  });

  it("does not bypass policies, which also judge its answers", async () => {
    const model = answering();
    let judged = 0;
    const guard = definePlugin({
      name: "guard",
      apply: ({ hooks }) => {
        hooks.beforeLlmCall.tap({ name: "guard" }, ({ taskId }) =>
          taskId === "b" ? reject("not b") : undefined,
        );
        hooks.afterLlmCall.tap({ name: "guard", lane: "policy" }, () => void judged++);
      },
    });
    const ended = await caching(
      {},
      { model, tasks: [say("Say", "a"), say("Say", "c"), say("Say", "b")], plugins: [guard] },
    );
    expect(judged).to.equal(2);
    expect(ended.error?.message).to.include("Say");
  });

  it("uses the request after all transforms as the key", async () => {
    const model = answering();
    const upper = definePlugin({
      name: "same",
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap({ name: "same", lane: "transform", order: "post" }, () =>
          replace({ request: { messages: [{ role: "user" as const, content: "always this" }] } }),
        ),
    });
    await caching({}, { model, tasks: [say("One"), say("Two")], plugins: [upper] });
    expect(model.requests).to.have.length(1);
  });

  it("returns answers that were stored with another remaining budget", async () => {
    const model = answering();
    const ended = await caching(
      {},
      {
        model,
        tasks: [say("Say", "a"), say("Else"), say("Say", "b")],
        plugins: [budget({ maxTokens: 5_000 })],
      },
    );
    expect(model.requests).to.have.length(2);
    expect(ended.error).to.equal(undefined);
  });

  it("calls the model for each of several equal calls in flight", async () => {
    const model = new ScriptedModel(async (_, i) => (await pause(2), `answer ${i + 1}`));
    await caching({}, { model, tasks: twice(), workflow: "PARALLEL" });
    expect(model.requests).to.have.length(2);
  });

  it("separates the answers of models with different servers or accounts", async () => {
    const store = watched();
    const servers = await Promise.all([OpenAIServer.start(), OpenAIServer.start()]);
    const [first, second] = servers;
    if (first === undefined || second === undefined) throw new Error("started above");
    const at = (server: OpenAIServer, o: OpenAIOptions = {}): ChatModel =>
      openai("gpt-test", { apiKey: "k-1", baseURL: server.url, ...o });
    const run = async (model: ChatModel): Promise<unknown> =>
      caching({ store }, { model, tasks: [say("Say")] });
    try {
      for (const model of [
        at(first),
        at(first),
        rateLimited(at(first), RateLimit.perSecond(100)),
        at(second),
        at(first, { apiKey: "k-2" }),
        at(first, { headers: { "OpenAI-Organization": "other" } }),
      ])
        await run(model);
      expect(servers.map(({ requests }) => requests.length)).to.deep.equal([3, 1]);
      expect(store.entries.size).to.equal(4);
    } finally {
      await Promise.all(servers.map((server) => server.close()));
    }
  });
});
