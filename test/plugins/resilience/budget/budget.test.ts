import type { BudgetOptions } from "agentensemble/resilience";
import type {
  ChatRequest,
  EnsembleOptions,
  EnsembleOutput,
  Ev,
  Plugin,
  RunInfo,
  UsageRecord,
} from "agentensemble";
import {
  Agent,
  BudgetExceededError,
  Ensemble,
  ModelCallError,
  RateLimit,
  Task,
  Tokens,
  answer,
  definePlugin,
  reject,
  tool,
} from "agentensemble";
import { budget, fallback, rateLimited, retry } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { failure, runToEnd, untilAborted, type Ended } from "../../../support/kernel-fixtures.js";
import { pause } from "../../../support/time.js";

/**
 * Every message counts 10 tokens, including its frame. The prompts of these tasks have two
 * messages: 20 tokens of input.
 */
const PER_MESSAGE = 10;
const counting = definePlugin({
  name: "counting",
  bind: (bind) =>
    void bind.single(Tokens.TokenCounter).toConstantValue({ count: () => PER_MESSAGE - 4 }),
});
const INPUT = 2 * PER_MESSAGE;
/** Texts with the word Big count 1,000 tokens. */
const largeForBig = definePlugin({
  name: "large-for-big",
  bind: (bind) =>
    void bind
      .single(Tokens.TokenCounter, { override: true })
      .toConstantValue({ count: (text) => (text.includes("Big") ? 1_000 : PER_MESSAGE - 4) }),
});

const agent = new Agent({ role: "r", goal: "g" });
const task = (name: string, maxOutputTokens?: number): Task =>
  new Task({
    name,
    description: `Do ${name}`,
    agent,
    ...(maxOutputTokens !== undefined && { modelOptions: { maxOutputTokens } }),
  });
const tasks = (count: number, maxOutputTokens?: number): Task[] =>
  Array.from({ length: count }, (_, i) => task(`t${i + 1}`, maxOutputTokens));

/** Answers with the maximum number of tokens, or `outputTokens`. */
function spending(
  outputTokens?: number,
  o: { readonly modelId?: string; readonly delayMs?: number } = {},
): ScriptedModel {
  const { modelId = "spending", delayMs = 0 } = o;
  return new ScriptedModel(
    (request) => ({
      text: "x",
      delayMs,
      usage: {
        inputTokens: INPUT,
        outputTokens: Math.min(outputTokens ?? Infinity, request.maxOutputTokens ?? 5_000),
      },
    }),
    { modelId },
  );
}

const perToken = (rates: Readonly<Record<string, number>>) => (call: UsageRecord) => {
  const rate = rates[call.modelId];
  return rate === undefined ? undefined : rate * (call.inputTokens + call.outputTokens);
};

function run(
  options: BudgetOptions,
  o: EnsembleOptions,
  runOptions: Parameters<Ensemble["run"]>[1] = {},
): Promise<Ended> {
  return runToEnd({ ...o, plugins: [budget(options), counting, ...(o.plugins ?? [])] }, runOptions);
}

const limitsOf = (model: ScriptedModel): (number | undefined)[] =>
  model.requests.map(({ maxOutputTokens }) => maxOutputTokens);
const exceeded = ({ events }: Ended): Ev<"budget_exceeded">[] =>
  events.filter((event) => event.type === "budget_exceeded");
const done = ({ completedTasks }: EnsembleOutput): string[] =>
  completedTasks.map(({ taskId }) => taskId);

describe("budget()", () => {
  it("refuses invalid options", () => {
    const bad: unknown[] = [
      undefined,
      {},
      { maxToken: 5 },
      { maxTokens: 0 },
      { maxTokens: -1 },
      { maxTokens: 1.5 },
      { maxTokens: NaN },
      { maxTokens: Infinity },
      { maxTokens: "5" },
      { maxCost: 0 },
      { maxCost: -1 },
      { maxCost: NaN },
      { maxCost: Infinity },
      { maxDurationMs: 0 },
      { maxDurationMs: Infinity },
      { maxTokens: 5, maxOutputTokensPerCall: 0 },
      { maxDurationMs: 5, maxOutputTokensPerCall: 10 },
      { maxTokens: 5, onExceeded: "halt" },
      { maxTokens: 5, onExceeded: null },
      { maxTokens: 5, onExceeded: {} },
      { maxCost: 5, onExceeded: { downgrade: "a:b" } },
      { maxCost: 5, onExceeded: { downgradeTo: "nonsense" } },
      { maxTokens: 5, onExceeded: { downgradeTo: "a:b" } },
    ];
    for (const options of bad)
      expect(() => budget(options as BudgetOptions), JSON.stringify(options))
        .to.throw()
        .with.property("code", "AE_VALIDATION");
  });

  it("requires the standard plugin that implements budgets", async () => {
    const { Kernel } = await import("agentensemble/kernel");
    expect(await failure(new Kernel({ plugins: [budget({ maxTokens: 5 })] }).boot()))
      .to.have.property("message")
      .that.includes("resilience-budgets");
  });

  it("with maxCost requires prices, and reports missing ones before any request", async () => {
    const model = spending(10);
    const { error } = await run({ maxCost: 1 }, { model, tasks: tasks(1) });
    expect(error).to.have.property("code", "AE_VALIDATION");
    expect(error?.message).to.include("costConfiguration");
    expect(model.requests).to.deep.equal([]);
  });

  it("with downgradeTo requires prices that distinguish models", async () => {
    const costConfiguration = { inputTokenRate: 1, outputTokenRate: 1 };
    const { error } = await run(
      { maxCost: 1, onExceeded: { downgradeTo: spending(1) } },
      { model: spending(10), tasks: tasks(1), costConfiguration },
    );
    expect(error).to.have.property("code", "AE_VALIDATION");
  });

  it("with downgradeTo lists the known providers", async () => {
    const o = { model: spending(1), tasks: tasks(1), costConfiguration: () => 1 };
    const ensemble = new Ensemble({
      ...o,
      plugins: [budget({ maxCost: 1, onExceeded: { downgradeTo: "opennai:x" } })],
    });
    expect((await failure(ensemble.run())).message).to.include("openai");
  });
});

describe("a budget of tokens", () => {
  it("accepts a run within the limit, and changes only the output limit of its requests", async () => {
    const model = spending(80);
    const ended = await run({ maxTokens: 5_000 }, { model, tasks: tasks(3) });
    expect(ended.error).to.equal(undefined);
    expect(limitsOf(model)).to.deep.equal([4_096, 4_096, 4_096]);
    expect(exceeded(ended)).to.deep.equal([]);
  });

  it("sends the remaining tokens as the output limit, and stops below the minimum of a call", async () => {
    const model = spending();
    const ended = await run(
      { maxTokens: 1_000, maxOutputTokensPerCall: 400 },
      { model, tasks: tasks(5) },
    );
    expect(limitsOf(model)).to.deep.equal([400, 400, 140]); // 1000 - 2 x 420 - 20
    expect(ended.output.metrics.totalTokens).to.equal(1_000);
    expect(done(ended.output)).to.deep.equal(["t1", "t2", "t3"]);
    expect(BudgetExceededError.isInstance(ended.error)).to.equal(true);
    expect(ended.error).to.include({ code: "AE_BUDGET_EXCEEDED", limit: "maxTokens" });
    expect(ended.output.exitReason).to.equal("ERROR");
    expect(exceeded(ended)).to.have.length(1);
    expect(exceeded(ended)[0]).to.include({
      limit: "maxTokens",
      allowed: 1_000,
      used: 1_000,
      action: "stop",
      taskId: "t4",
    });
  });

  it("never raises a request's own limit", async () => {
    const model = spending();
    await run({ maxTokens: 1_000 }, { model, tasks: tasks(2, 50) });
    expect(limitsOf(model)).to.deep.equal([50, 50]);
  });

  it("refuses a call that is larger than the complete budget before it is sent, with the numbers", async () => {
    const model = spending();
    const { error } = await run({ maxTokens: 100 }, { model, tasks: tasks(1) });
    expect(error?.message).to.match(/0 of 100 tokens.*20 tokens for its input/);
    expect(model.requests).to.deep.equal([]);
  });

  it("sends a call if exactly the minimum output remains, and none with one token less", async () => {
    const least = 100;
    for (const [left, sent] of [
      [least + 1, [least + 1]],
      [least, [least]],
      [least - 1, []],
    ] as const) {
      const model = spending();
      const ended = await run({ maxTokens: INPUT + left }, { model, tasks: tasks(1) });
      expect(limitsOf(model), `${left} left`).to.deep.equal(sent);
      expect(exceeded(ended), `${left} left`).to.have.length(sent.length === 0 ? 1 : 0);
    }
  });

  it("sends a call that requests exactly the remaining tokens, and none that requests one more", async () => {
    for (const [wanted, sent] of [
      [49, [49]],
      [50, [50]],
      [51, []],
    ] as const) {
      const model = spending();
      await run({ maxTokens: INPUT + 50 }, { model, tasks: tasks(1, wanted) });
      expect(limitsOf(model), `${wanted} wanted`).to.deep.equal(sent);
    }
  });

  it("warns when it truncated an answer", async () => {
    const model = new ScriptedModel([
      { text: "cut", usage: { inputTokens: INPUT, outputTokens: 200 } },
    ]);
    const cutting = {
      provider: "p",
      modelId: "m",
      chat: async (r: ChatRequest) => ({
        ...(await model.chat(r)),
        finishReason: "length" as const,
      }),
    };
    const { events } = await run(
      { maxTokens: 5_000, maxOutputTokensPerCall: 200 },
      { model: cutting, tasks: tasks(1) },
    );
    expect(events.filter((e) => e.type === "run_warning").map((e) => e.message)).to.have.length(1);
    const own = await run(
      { maxTokens: 5_000 },
      {
        model: {
          ...cutting,
          chat: async () =>
            cutting.chat({ messages: [] }).catch(() => ({
              message: { role: "assistant" as const, content: "" },
              finishReason: "length" as const,
            })),
        },
        tasks: tasks(1, 200),
      },
    );
    expect(
      own.events.filter((e) => e.type === "run_warning" && e.message.includes("cut")),
    ).to.deep.equal([]);
  });

  it("counts an estimate if the vendor reports no usage", async () => {
    const model = new ScriptedModel(() => "x"); // 20 in, 6 out
    const ended = await run({ maxTokens: 250 }, { model, tasks: tasks(10, 100) });
    expect(model.requests).to.have.length(6); // 5 x 26 leave 120
    expect(exceeded(ended)[0]?.used).to.equal(6 * 26);
  });

  it("counts the reported tokens even if the input exceeded its estimate", async () => {
    const model = new ScriptedModel(() => ({
      text: "x",
      usage: { inputTokens: 900, outputTokens: 100 },
    }));
    const ended = await run({ maxTokens: 1_000 }, { model, tasks: tasks(2) });
    expect(model.requests).to.have.length(1);
    expect(exceeded(ended)[0]?.used).to.equal(1_000);
  });

  it("is separate for each run", async () => {
    const model = spending(80);
    const ensemble = new Ensemble({
      model,
      tasks: tasks(1, 100),
      plugins: [budget({ maxTokens: 150 }), counting],
    });
    await Promise.all([ensemble.run(), ensemble.run()]);
    await ensemble.run();
    expect(model.requests).to.have.length(3);
    await ensemble.dispose();
  });
});

describe("calls without cost", () => {
  it("include calls that a tap answers", async () => {
    const model = spending(100);
    const stub = definePlugin({
      name: "stub",
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap({ name: "stub", lane: "answer" }, ({ taskId }) =>
          taskId === "t9"
            ? undefined
            : answer({ message: { role: "assistant", content: "stub" }, finishReason: "stop" }),
        ),
    });
    const { error } = await run(
      { maxTokens: 150 },
      { model, tasks: tasks(9, 100), plugins: [stub] },
    );
    expect(error).to.equal(undefined);
    expect(model.requests).to.have.length(1);
  });

  it("include calls that a policy refuses, or that a broken tap prevents", async () => {
    const model = spending(100);
    const guard = definePlugin({
      name: "guard",
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap({ name: "guard", lane: "policy" }, ({ taskId }) => {
          if (taskId === "t1") return reject("no");
          if (taskId === "t2") throw new Error("broken");
          return undefined;
        }),
    });
    const o = {
      model,
      tasks: tasks(3, 100),
      workflow: "PARALLEL" as const,
      parallelErrorStrategy: "CONTINUE_ON_ERROR" as const,
      plugins: [guard],
    };
    const ended = await run({ maxTokens: 150 }, o);
    expect(done(ended.output)).to.deep.equal(["t3"]);
    expect(exceeded(ended)).to.deep.equal([]);
  });

  it("include calls that the vendor refused", async () => {
    const refused = new ModelCallError("busy", {
      provider: "p",
      modelId: "m",
      code: "AE_MODEL_RATE_LIMITED",
      retryable: true,
      retryAfterMs: 0,
    });
    const model = new ScriptedModel([
      refused,
      refused,
      { text: "x", usage: { inputTokens: INPUT, outputTokens: 100 } },
    ]);
    expect(
      (await run({ maxTokens: 130 }, { model, tasks: tasks(1, 100), plugins: [retry()] })).error,
    ).to.equal(undefined);
  });

  it("exclude calls that failed during transfer: their input counts, and the received part of the answer", async () => {
    const broken = new ModelCallError("broken", {
      provider: "p",
      modelId: "m",
      code: "AE_MODEL_CONNECTION",
      retryable: true,
      partialText: "so far",
    });
    const model = new ScriptedModel([broken, broken, "x"]);
    const ended = await run(
      { maxTokens: 170 },
      { model, tasks: tasks(1, 100), plugins: [retry({ baseDelayMs: 0 })] },
    );
    expect(model.requests).to.have.length(2); // 2 x 26 leave 118, and 120 are needed
    expect(exceeded(ended)[0]?.used).to.equal(52);
  });
});

describe("concurrent calls", () => {
  it("wait for reservations of others, in the order of their arrival", async () => {
    const order: string[] = [];
    const model = new ScriptedModel(async (request) => {
      order.push(JSON.stringify(request.messages.at(-1)?.content).match(/Do (t\d)/)?.[1] ?? "");
      await pause(2);
      return { text: "x", usage: { inputTokens: INPUT, outputTokens: 10 } };
    });
    const ended = await run(
      { maxTokens: 260 },
      { model, tasks: tasks(5, 100), workflow: "PARALLEL" },
    );
    expect(ended.error).to.equal(undefined);
    expect(order).to.deep.equal(["t1", "t2", "t3", "t4", "t5"]);
    expect(ended.output.metrics.totalTokens).to.equal(150);
  });

  it("wait if exactly the minimum output may become free", async () => {
    const model = spending(10);
    const stub = definePlugin({
      name: "stub",
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap({ name: "stub", lane: "answer" }, async ({ taskId }) => {
          if (taskId !== "first") return undefined;
          await pause(5);
          return answer({ message: { role: "assistant", content: "stub" }, finishReason: "stop" });
        }),
    });
    const { error } = await run(
      { maxTokens: INPUT + 100 },
      { model, tasks: [task("first", 10), task("big")], workflow: "PARALLEL", plugins: [stub] },
    );
    expect(error).to.equal(undefined);
    expect(limitsOf(model)).to.deep.equal([100]);
  });

  it("do not overtake a waiting call, even if they would fit", async () => {
    const order: string[] = [];
    const noting = definePlugin({
      name: "noting",
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap(
          { name: "note", lane: "answer" },
          ({ taskId }) => void order.push(taskId),
        ),
    });
    const model = spending(10, { delayMs: 5 });
    const o = {
      model,
      tasks: [task("first", 150), task("big", 300), task("small", 30)],
      workflow: "PARALLEL" as const,
      plugins: [noting],
    };
    expect((await run({ maxTokens: 400 }, o)).error).to.equal(undefined);
    expect(order).to.deep.equal(["first", "big", "small"]);
  });

  it("are refused immediately if a wait can't help", async () => {
    const model = new ScriptedModel(
      async () => (await pause(5), { text: "x", usage: { inputTokens: INPUT, outputTokens: 100 } }),
    );
    const small = spending(100);
    const big = new Task({
      name: "big",
      description: "Big",
      agent: agent.with({ model: small }),
      modelOptions: { maxOutputTokens: 100 },
      context: [],
    });
    const ended = await run(
      { maxTokens: 500, onExceeded: "reject" },
      {
        model,
        tasks: [task("t1", 100), big],
        workflow: "PARALLEL",
        parallelErrorStrategy: "CONTINUE_ON_ERROR",
        plugins: [largeForBig],
      },
    );
    expect(small.requests).to.deep.equal([]);
    const names = ended.events
      .filter((e) => e.type === "task_failed" || e.type === "task_completed")
      .map((e) => e.taskId);
    expect(names).to.deep.equal(["big", "t1"]);
  });

  it("together never exceed the budget", async () => {
    const model = spending();
    const ended = await run(
      { maxTokens: 1_000, maxOutputTokensPerCall: 300 },
      { model, tasks: tasks(8), workflow: "PARALLEL" },
    );
    expect(ended.output.metrics.totalTokens).to.be.at.most(1_000);
    expect(ended.error).to.have.property("code", "AE_BUDGET_EXCEEDED");
  });

  it("stop waiting when they are cancelled, and release their reservations", async () => {
    const controller = new AbortController();
    const stuck = {
      provider: "p",
      modelId: "stuck",
      chat: async (_r: ChatRequest, o?: { signal?: AbortSignal | undefined }) =>
        untilAborted(o?.signal ?? AbortSignal.abort()),
    };
    const ended = run(
      { maxTokens: 130 },
      { model: stuck, tasks: tasks(3, 100), workflow: "PARALLEL" },
      { signal: controller.signal },
    );
    await pause(5);
    controller.abort();
    expect((await ended).output.exitReason).to.equal("CANCELLED");
  });

  it("release their reservation if their task ends while a tap hangs", async () => {
    const hanging = definePlugin({
      name: "hanging",
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap({ name: "hang", lane: "policy" }, ({ taskId }) =>
          taskId === "t1" ? new Promise<undefined>(() => undefined) : undefined,
        ),
    });
    const model = spending(50);
    const first = new Task({
      name: "t1",
      description: "Do t1",
      agent,
      timeoutMs: 5,
      modelOptions: { maxOutputTokens: 100 },
    });
    const o = {
      model,
      tasks: [first, task("t2", 100)],
      workflow: "PARALLEL" as const,
      parallelErrorStrategy: "CONTINUE_ON_ERROR" as const,
      plugins: [hanging],
    };
    expect(done((await run({ maxTokens: 130 }, o)).output)).to.deep.equal(["t2"]);
  });
});

describe("a budget that stops", () => {
  it("starts neither further tasks nor further calls of current tasks", async () => {
    const started: string[] = [];
    const handler = (name: string): Task =>
      new Task({
        name,
        description: name,
        handler: async () => (started.push(name), await pause(1), name),
      });
    const ended = await run(
      { maxTokens: 150 },
      { model: spending(), tasks: [task("t1", 100), task("t2", 100), handler("h1")] },
    );
    expect(started).to.deep.equal([]);
    expect(
      ended.events.filter((e) => e.type === "task_started").map((e) => e.taskId),
    ).to.deep.equal(["t1", "t2"]);
  });

  it("refuses calls that wait for a rate limit when it stops the run", async () => {
    const model = spending(100);
    const slow = rateLimited(model, RateLimit.of(1, 40));
    const pausing = new Task({
      name: "pausing",
      description: "x",
      handler: async () => (await pause(10), "x"),
    });
    const big = new Task({
      name: "big",
      description: "Do Big",
      agent: agent.with({ model: spending(1) }),
      context: [pausing],
    });
    const o = {
      model: slow,
      tasks: [task("t1", 100), task("t2", 100), pausing, big],
      workflow: "PARALLEL" as const,
    };
    const ended = await run(
      { maxTokens: 400 },
      { ...o, parallelErrorStrategy: "CONTINUE_ON_ERROR", plugins: [largeForBig] },
    );
    expect(done(ended.output)).to.have.members(["t1", "pausing"]);
    expect(model.requests).to.have.length(1);
    expect(exceeded(ended).map(({ taskId }) => taskId)).to.deep.equal(["big"]);
  });

  it("is not delayed by a fallback model or a retry", async () => {
    const other = spending(10, { modelId: "other" });
    const ended = await run(
      { maxTokens: 110 },
      { model: spending(), tasks: tasks(1), plugins: [fallback([other]), retry()] },
    );
    expect(other.requests).to.deep.equal([]);
    expect(ended.error).to.have.property("code", "AE_BUDGET_EXCEEDED");
  });
});

describe("a budget that rejects", () => {
  it("fails only the call that would exceed it", async () => {
    const model = spending(60);
    const big = new Task({
      name: "big",
      description: "Do big",
      agent,
      modelOptions: { maxOutputTokens: 100 },
    });
    const o = {
      model,
      tasks: [task("t1", 100), big, task("t3", 10)],
      workflow: "PARALLEL" as const,
      maxConcurrency: 1,
      parallelErrorStrategy: "CONTINUE_ON_ERROR" as const,
    };
    const ended = await run({ maxTokens: 190, onExceeded: "reject" }, o);
    expect(done(ended.output)).to.deep.equal(["t1", "t3"]);
    expect(BudgetExceededError.find(ended.error) ?? ended.error).to.not.equal(undefined);
    expect(exceeded(ended).map(({ action, taskId }) => [action, taskId])).to.deep.equal([
      ["reject", "big"],
    ]);
  });

  it("fails the task like any failed call, without a retry", async () => {
    const ended = await run(
      { maxTokens: 60, onExceeded: "reject" },
      { model: spending(), tasks: tasks(1), plugins: [retry()] },
    );
    expect(ended.error).to.have.property("code", "AE_TASK_EXECUTION");
    expect(BudgetExceededError.find(ended.error)).to.include({ limit: "maxTokens" });
    expect(ended.events.some((e) => e.type === "retry_scheduled")).to.equal(false);
  });
});

describe("a budget of cost", () => {
  const prices = perToken({ dear: 0.01, cheap: 0.001 });

  it("counts with the prices of the ensemble, and limits the last answer to the remaining cost", async () => {
    const model = spending(undefined, { modelId: "dear" });
    const ended = await run(
      { maxCost: 5, maxOutputTokensPerCall: 200 },
      { model, tasks: tasks(4), costConfiguration: prices },
    );
    expect(limitsOf(model)).to.deep.equal([200, 200]); // 2 x 2.2 leave 0.6, and 1.2 are needed for 100 tokens
    expect(ended.error).to.include({ limit: "maxCost" });
    expect(ended.output.metrics.costEstimate?.totalCost).to.be.closeTo(4.4, 1e-9);
  });

  it("refuses a call whose tokens fit exactly and whose cost does not", async () => {
    const model = spending(undefined, { modelId: "dear" });
    const ended = await run(
      { maxTokens: INPUT + 100, maxCost: 1 },
      { model, tasks: tasks(1), costConfiguration: prices },
    );
    expect(limitsOf(model)).to.deep.equal([]);
    expect(ended.error).to.include({ code: "AE_BUDGET_EXCEEDED", limit: "maxCost" });
  });

  it("uses the cheaper model, then stops", async () => {
    const dear = spending(undefined, { modelId: "dear" });
    const cheap = spending(undefined, { modelId: "cheap" });
    const ended = await run(
      { maxCost: 3, maxOutputTokensPerCall: 200, onExceeded: { downgradeTo: cheap } },
      { model: dear, tasks: tasks(8), costConfiguration: prices },
    );
    expect(limitsOf(dear)).to.deep.equal([200]);
    expect(limitsOf(cheap)).to.deep.equal([200, 200, 200, 120]); // 0.8 - 3 x 0.22 - 0.02
    expect(ended.output.metrics.costEstimate?.totalCost).to.be.closeTo(3, 1e-9);
    expect(exceeded(ended).map(({ action }) => action)).to.deep.equal([
      "downgrade",
      "downgrade",
      "downgrade",
      "downgrade",
      "stop",
    ]);
    expect(ended.error).to.have.property("code", "AE_BUDGET_EXCEEDED");
  });

  it("requests no schema from the cheaper model if it does not support schemas", async () => {
    const cheap = spending(50, { modelId: "cheap" });
    const dear = Object.assign(spending(undefined, { modelId: "dear" }), {
      capabilities: { structuredOutput: true },
    });
    const { z } = await import("zod");
    const outputType = z.object({ a: z.string() });
    const typed = new Task({
      name: "t2",
      description: "Do t2",
      agent,
      outputType,
      maxOutputRetries: 0,
    });
    await run(
      { maxCost: 3, maxOutputTokensPerCall: 200, onExceeded: { downgradeTo: cheap } },
      { model: dear, tasks: [task("t1"), typed], costConfiguration: prices },
    );
    expect(cheap.requests).to.have.length(1);
    expect(cheap.requests[0]?.responseFormat).to.equal(undefined);
  });

  it("refuses a call with an unknown price, or whose price function throws", async () => {
    for (const costConfiguration of [
      () => undefined,
      () => NaN,
      (): number => {
        throw new Error("no prices today");
      },
    ]) {
      const model = spending(10);
      const ended = await run({ maxCost: 3 }, { model, tasks: tasks(1), costConfiguration });
      expect(ended.error?.cause).to.have.property("code", "AE_VALIDATION");
      expect(model.requests).to.deep.equal([]);
    }
  });

  it("counts the reservation if only the model name in the answer has no price", async () => {
    const model = {
      provider: "p",
      modelId: "dear",
      chat: async () => ({
        message: { role: "assistant" as const, content: "x" },
        finishReason: "stop" as const,
        modelId: "dear-2026",
        usage: { inputTokens: 20, outputTokens: 80 },
      }),
    };
    const ended = await run(
      { maxCost: 2.1 },
      { model, tasks: tasks(3, 100), costConfiguration: prices },
    );
    expect(done(ended.output)).to.deep.equal(["t1"]); // 1.0; the second needs 1.2
  });

  it("is not reduced by a free call", async () => {
    const ended = await run(
      { maxCost: 0.01 },
      {
        model: spending(),
        tasks: tasks(3),
        costConfiguration: { inputTokenRate: 0, outputTokenRate: 0 },
      },
    );
    expect(ended.error).to.equal(undefined);
  });
});

/** Binds a clock that shows the instant which `nowMs` returns. */
function clockAt(nowMs: () => number): Plugin {
  return definePlugin({
    name: "clock",
    bind: (bind) =>
      void bind
        .single(Tokens.Clock)
        .toConstantValue({ now: () => new Date(nowMs()), monotonicMs: nowMs }),
  });
}

describe("a budget of time", () => {
  it("starts no call after its limit, and allows a call in progress to finish", async () => {
    let nowMs = 0;
    const clock = clockAt(() => nowMs);
    const model = new ScriptedModel(() => ((nowMs += 60), "x"));
    const ended = await run({ maxDurationMs: 100 }, { model, tasks: tasks(4), plugins: [clock] });
    expect(done(ended.output)).to.deep.equal(["t1", "t2"]);
    expect(ended.error).to.include({ limit: "maxDurationMs" });
    expect(exceeded(ended)[0]).to.include({ allowed: 100, used: 120 });
    expect(limitsOf(model)).to.deep.equal([undefined, undefined]);
  });

  it("starts no call at exactly its limit", async () => {
    let nowMs = 0;
    const clock = clockAt(() => nowMs);
    const model = new ScriptedModel(() => ((nowMs += 50), "x"));
    const ended = await run({ maxDurationMs: 100 }, { model, tasks: tasks(3), plugins: [clock] });
    expect(done(ended.output)).to.deep.equal(["t1", "t2"]);
    expect(ended.error).to.include({ limit: "maxDurationMs" });
  });
});

describe("the budget of a run", () => {
  it("applies to its delegates", async () => {
    const model = new ScriptedModel((request, i) => {
      const usage = { inputTokens: INPUT, outputTokens: 100 };
      return i === 0
        ? {
            toolCalls: [
              { name: "delegate", arguments: { agentRole: "w", taskDescription: "help" } },
            ],
            usage,
          }
        : { text: "x", usage: { ...usage, inputTokens: request.messages.length * PER_MESSAGE } };
    });
    const boss = new Agent({
      role: "b",
      goal: "g",
      allowDelegation: true,
      modelOptions: { maxOutputTokens: 100 },
    });
    const worker = new Agent({ role: "w", goal: "g" });
    const ended = await run(
      { maxTokens: 200 },
      { model, tasks: [new Task({ description: "x", agent: boss })], agents: [worker] },
    );
    expect(model.requests).to.have.length(1);
    expect(ended.error).to.have.property("code", "AE_BUDGET_EXCEEDED");
  });

  const joining = (inner: Ensemble, name = "outer"): Task =>
    new Task({
      name,
      description: name,
      handler: async (ctx) => (await inner.run({}, { parent: ctx.run })).raw,
    });

  it("applies to runs that join it, with any kernel", async () => {
    const model = spending();
    const inner = new Ensemble({ model, tasks: tasks(5, 100), plugins: [counting] });
    const ended = await run({ maxTokens: 300 }, { tasks: [joining(inner), task("next")], model });
    expect(model.requests).to.have.length(2);
    expect(ended.error).to.include({ code: "AE_BUDGET_EXCEEDED", limit: "maxTokens" });
    expect(ended.error?.output).to.equal(ended.output);
    expect(ended.output.metrics.totalTokens).to.equal(240);
    expect(exceeded(ended)).to.have.length(1);
    await inner.dispose();
  });

  it("stops all runs that joined it, and refuses further runs", async () => {
    const model = spending();
    const started: string[] = [];
    const steps = [1, 2, 3].map(
      (n) =>
        new Task({
          name: `s${n}`,
          description: "s",
          handler: async () => (started.push(`s${n}`), await pause(8), "s"),
        }),
    );
    const other = new Ensemble({ tasks: steps });
    const inner = new Ensemble({ model, tasks: tasks(3, 100), plugins: [counting] });
    const late = new Task({
      name: "late",
      description: "late",
      handler: async (ctx) => (
        await pause(12),
        (await failure(inner.run({}, { parent: ctx.run }))).code
      ),
    });
    const ended = await run(
      { maxTokens: 150 },
      {
        model,
        tasks: [joining(other, "a"), joining(inner, "b"), late],
        workflow: "PARALLEL",
        parallelErrorStrategy: "CONTINUE_ON_ERROR",
      },
    );
    expect(started).to.deep.equal(["s1"]);
    expect(model.requests).to.have.length(1);
    expect(ended.output.taskOutputs.find(({ taskId }) => taskId === "late")?.raw).to.equal(
      "AE_BUDGET_EXCEEDED",
    );
    await Promise.all([other.dispose(), inner.dispose()]);
  });

  it("applies in addition to the budget of a run that joined it, and each stops its own run", async () => {
    const model = spending();
    const inner = new Ensemble({
      model,
      tasks: tasks(5, 100),
      plugins: [counting, budget({ maxTokens: 150 })],
    });
    const codes: string[] = [];
    const outer = new Task({
      name: "o",
      description: "o",
      handler: async (ctx) => (
        codes.push((await failure(inner.run({}, { parent: ctx.run }))).code),
        "x"
      ),
    });
    const ended = await run({ maxTokens: 1_000 }, { model, tasks: [outer, task("next", 100)] });
    expect(codes).to.deep.equal(["AE_BUDGET_EXCEEDED"]);
    expect(ended.error).to.equal(undefined);
    expect(ended.output.metrics.totalTokens).to.equal(240);
    await inner.dispose();
  });

  it("is reported to its listeners, also if a joined run exceeded it", async () => {
    const inner = new Ensemble({ model: spending(), tasks: tasks(2, 100), plugins: [counting] });
    const ended = await run({ maxTokens: 130 }, { tasks: [joining(inner)] });
    expect(exceeded(ended).map(({ action, taskId }) => [action, taskId])).to.deep.equal([
      ["stop", "t2"],
    ]);
    await inner.dispose();
  });

  it("does not delay a run for which a policy of one of its calls waits", async () => {
    const judge = new Ensemble({ model: spending(50), tasks: tasks(1, 100), plugins: [counting] });
    const asking = definePlugin({
      name: "asking",
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap(
          { name: "ask", lane: "policy" },
          async ({ run: parent }: { readonly run: RunInfo }) => {
            const { error } = await judge.run({}, { parent, throwOnError: false });
            return error === undefined ? undefined : reject("the judge could not judge");
          },
        ),
    });
    const ended = await run(
      { maxTokens: 230, onExceeded: "reject" },
      { model: spending(50), tasks: tasks(1, 100), plugins: [asking] },
    );
    expect(ended.error?.message).to.not.equal(undefined); // 120 tokens are reserved for the call: too few remain for the judge, who is refused instead of waiting forever
    const enough = await run(
      { maxTokens: 240 },
      { model: spending(50), tasks: tasks(1, 100), plugins: [asking] },
    );
    expect(enough.error).to.equal(undefined);
    await judge.dispose();
  });

  it("includes calls of separate runs in tools", async () => {
    const inner = new Ensemble({ model: spending(50), tasks: tasks(1, 100), plugins: [counting] });
    const ask = tool({
      name: "ask",
      description: "Asks",
      execute: async (_i, { scope }) => (await inner.run({}, { parent: scope.run })).raw,
    });
    const ended = await run(
      { maxTokens: 1_000 },
      { tasks: [new Task({ description: "x", handler: ask })] },
    );
    expect(ended.output.metrics.totalTokens).to.equal(70);
    await inner.dispose();
  });
});
