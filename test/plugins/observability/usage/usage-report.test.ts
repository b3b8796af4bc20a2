import { expect } from "chai";
import type { EnsembleOutput, Plugin, UsageRecord } from "agentensemble";
import {
  Agent,
  Ensemble,
  GuardrailResult,
  MapReduceEnsemble,
  ModelCallError,
  Phase,
  PhaseReview,
  Task,
  ValidationError,
  tool,
} from "agentensemble";
import { formatCost, usageReport } from "agentensemble/observability";
import { openai } from "agentensemble/providers/openai";
import { retry } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import fc from "fast-check";
import { z } from "zod";
import { OpenAIServer, type Reply } from "../../../support/openai-server.js";

function record(changes: Partial<UsageRecord> = {}): UsageRecord {
  return {
    runId: "r",
    taskId: "t",
    agentRole: "Writer",
    purpose: "task",
    provider: "p",
    modelId: "m",
    inputTokens: 10,
    outputTokens: 5,
    cachedInputTokens: -1,
    reasoningTokens: -1,
    latencyMs: 2,
    attempt: 1,
    outcome: "ok",
    tags: {},
    ...changes,
  };
}

describe("usageReport", () => {
  it("adds up known values, counts unknown ones, and reports failures and missing prices", () => {
    const ledger = [
      record({
        cost: 0.1,
        inputCost: 0.06,
        outputCost: 0.04,
        cachedInputTokens: 4,
        reasoningTokens: 1,
      }),
      record({ cost: 0.2 }),
      record({ inputTokens: -1, outputTokens: -1, outcome: "failed" }),
    ];
    expect(usageReport(ledger, { by: "task" })).to.deep.equal([
      {
        key: "t",
        runId: "r",
        calls: 3,
        failedCalls: 1,
        inputTokens: 20,
        outputTokens: 10,
        totalTokens: 30,
        cachedInputTokens: 4,
        reasoningTokens: 1,
        unknownUsageCalls: 1,
        latencyMs: 6,
        cost: {
          inputCost: 0.06,
          outputCost: 0.04,
          totalCost: 0.3,
          currency: "USD",
          unpricedCalls: 1,
        },
        unpricedCalls: 1,
      },
    ]);
  });

  it("reports no cost without prices, and none for several currencies", () => {
    expect(usageReport([record()], { by: "task" })[0]).not.to.have.property("cost");
    const mixed = [record({ cost: 1, currency: "EUR" }), record({ cost: 1, currency: "USD" })];
    expect(usageReport(mixed, { by: "task" })[0]).not.to.have.property("cost");
  });

  it("groups by agent, model, provider, purpose and tag, the highest cost first", () => {
    const ledger = [
      record({ agentRole: "A", modelId: "small", purpose: "manager", tags: { team: "x" } }),
      record({ agentRole: "B", modelId: "large", cost: 1, tags: { team: "y" } }),
      record({ agentRole: "B", provider: "q", inputTokens: 500 }),
    ];
    const keys = (by: Parameters<typeof usageReport>[1]["by"]): string[] =>
      usageReport(ledger, { by }).map(({ key }) => key);
    expect(keys("agent")).to.deep.equal(["B", "A"]);
    expect(keys("model")).to.deep.equal(["p:large", "q:m", "p:small"]);
    expect(keys("provider")).to.deep.equal(["p", "q"]);
    expect(keys("purpose")).to.deep.equal(["task", "manager"]);
    expect(keys("tag:team")).to.deep.equal(["y", "", "x"]);
  });

  it("adds delegated work to the delegating task, run by run", () => {
    const ledger = [
      record({ taskId: "a" }),
      record({ taskId: "a.1", parentTaskId: "a" }),
      record({ taskId: "a.1.1", parentTaskId: "a.1" }),
      record({ taskId: "b", parentTaskId: "a", runId: "other" }),
      record({ taskId: "c", parentTaskId: "d" }),
      record({ taskId: "d", parentTaskId: "c" }),
    ];
    const rows = usageReport(ledger, { by: "task-tree" });
    const callsOf = (run: string): number | undefined =>
      rows.find(({ key, runId }) => key === "a" && runId === run)?.calls;
    expect([callsOf("r"), callsOf("other")]).to.deep.equal([3, 1]);
    expect(rows.reduce((sum, { calls }) => sum + calls, 0)).to.equal(6);
  });

  it("separates tasks of joined runs, and lists them below the task that started them", async () => {
    const model = new ScriptedModel(["inner", "inner"]);
    const inner = new Ensemble({
      model,
      tasks: [new Task({ name: "work", description: "Inner work" })],
    });
    const askInner = tool({
      name: "ask_inner",
      description: "Runs the inner team",
      input: z.object({}),
      execute: async (_input, ctx) => (await inner.run({}, { parent: ctx.scope })).raw,
    });
    const outer = new Ensemble({
      tasks: [
        new Task({
          description: "Run the inner team",
          name: "work",
          handler: async (ctx) => (await inner.run({}, { parent: ctx, runId: "joined" })).raw,
        }),
        new Task({
          description: "Ask the inner team",
          name: "ask",
          model: new ScriptedModel([{ toolCalls: [{ name: "ask_inner", arguments: {} }] }, "done"]),
          tools: [askInner],
        }),
      ],
    });
    const output = await outer.run({}, { runId: "outer" });
    const rows = (by: "task" | "task-tree"): readonly unknown[] =>
      usageReport(output, { by })
        .map(
          ({ runId, key, calls }) =>
            `${runId === "outer" || runId === "joined" ? runId : "other"} ${key} ${calls}`,
        )
        .sort();
    expect(rows("task")).to.deep.equal(["joined work 1", "other work 1", "outer ask 2"]);
    expect(rows("task-tree")).to.deep.equal(["outer ask 3", "outer work 1"]);
    expect(output.metrics.ledger.find(({ runId }) => runId === "joined")?.caller).to.deep.equal({
      runId: "outer",
      taskId: "work",
    });
  });

  it("preserves the number of tokens, for any grouping", () => {
    const records = fc.array(
      fc.record({
        taskId: fc.constantFrom("a", "b"),
        agentRole: fc.string(),
        inputTokens: fc.integer({ min: -1, max: 1e6 }),
        cost: fc.option(fc.double({ min: 0, max: 10, noNaN: true }), { nil: undefined }),
      }),
    );
    fc.assert(
      fc.property(
        records,
        fc.constantFrom("task", "task-tree", "agent", "model", "purpose", "tag:x"),
        (changes, by) => {
          const ledger = changes.map((change) => record(change));
          const rows = usageReport(ledger, { by });
          expect(rows.reduce((sum, row) => sum + row.calls, 0)).to.equal(ledger.length);
          expect(rows.reduce((sum, row) => sum + row.inputTokens, 0)).to.equal(
            ledger.reduce((sum, r) => sum + Math.max(0, r.inputTokens), 0),
          );
          expect(rows.reduce((sum, row) => sum + row.unpricedCalls, 0)).to.equal(
            ledger.filter(({ cost }) => cost === undefined).length,
          );
        },
      ),
    );
  });

  it("refuses other groupings, options and sources", () => {
    for (const [source, options] of [
      [[], { by: "agents" }],
      [[], { by: "tag:" }],
      [[], {}],
      [[], { by: "task", sort: "name" }],
      [{}, { by: "task" }],
      [undefined, { by: "task" }],
    ] as const) {
      expect(() => usageReport(source as never, options as never)).to.throw(ValidationError);
    }
  });
});

describe("formatCost", () => {
  const CASES: readonly (readonly [number, string, string])[] = [
    [0, "USD", "$0.00"],
    [1234.5, "USD", "$1,234.50"],
    [0.5, "USD", "$0.50"],
    [0.0042, "USD", "$0.0042"],
    [0.000123456, "EUR", "€0.00012"],
    [1e-12, "USD", "$0.00"],
    [12.5, "credits", "12.50 credits"],
  ];
  for (const [totalCost, currency, text] of CASES)
    it(`writes ${totalCost} ${currency} as ${text}`, () =>
      expect(formatCost({ inputCost: 0, outputCost: 0, totalCost, currency })).to.equal(text));
  it("shows unknown if there is no cost", () => expect(formatCost(undefined)).to.equal("unknown"));
});

/** The counts of the vendor's server. */
class Counter {
  calls = 0;
  input = 0;
  output = 0;

  answer(answer: Omit<Extract<Reply, { readonly kind: "answer" }>, "kind" | "usage">): Reply {
    const [input, output] = [100 + this.calls, 10 + this.calls];
    this.input += input;
    this.output += output;
    return {
      kind: "answer",
      ...answer,
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    };
  }
}

describe("the ledger of a run", () => {
  for (const streaming of [false, true])
    it(`equals the counts of the vendor: delegation, retries, corrections, guardrails, a failed task${streaming ? ", streamed" : ""}`, async () => {
      const counter = new Counter();
      let manager = 0;
      const tried = new Set<string>();
      const server = await OpenAIServer.start((request) => {
        counter.calls++;
        const text = JSON.stringify(request.body["messages"]);
        const first = (what: string): boolean => !tried.has(what) && tried.add(what).size > 0;
        if (text.includes("You are Manager")) {
          const turns = ["Researcher", "Writer", "Researcher"];
          const role = turns[manager++];
          if (role === undefined) return counter.answer({ text: "All done." });
          const input = JSON.stringify({
            agentRole: role,
            taskDescription: `Work of ${role}`,
            ...(manager < 3 && { taskNumber: manager }),
          });
          return counter.answer({
            toolCalls: [{ id: `c${manager}`, name: "delegateTask", arguments: input }],
          });
        }
        if (text.includes("You are Researcher")) {
          if (manager === 3)
            return { kind: "status", status: 400, body: { error: { message: "no more" } } };
          if (first("rate"))
            return {
              kind: "status",
              status: 429,
              headers: { "retry-after-ms": "1" },
              body: { error: { message: "slow down" } },
            };
          if (first("overload"))
            return { kind: "status", status: 503, body: { error: { message: "overloaded" } } };
          if (first("cut"))
            return { kind: "raw", body: '{"choices": [', contentType: "application/json" };
          return counter.answer({ text: first("prose") ? "no JSON at all" : '{"facts": ["one"]}' });
        }
        return counter.answer({ text: first("short") ? "no" : "A long text." });
      });
      const facts = new Task({
        name: "facts",
        description: "Collect facts",
        outputType: z.object({ facts: z.array(z.string()) }),
      });
      const long = ({ raw }: { readonly raw: string }): GuardrailResult =>
        raw.length > 3 ? GuardrailResult.success() : GuardrailResult.failure("too short");
      const text = new Task({
        name: "text",
        description: "Write it",
        outputGuardrails: [long],
        guardrailRetries: 1,
      });
      const agents = ["Researcher", "Writer"].map((role) => new Agent({ role, goal: "Work" }));
      const plugins: readonly Plugin[] = [retry({ maxAttempts: 4, baseDelayMs: 1 })];
      let output: EnsembleOutput;
      try {
        await using ensemble = new Ensemble({
          model: openai("gpt-4o-mini", { baseURL: server.url, apiKey: "sk-test" }),
          workflow: "HIERARCHICAL",
          agents,
          tasks: [facts, text],
          ...(streaming && { onToken: () => undefined }),
          plugins,
          costConfiguration: { inputTokenRate: 0.001, outputTokenRate: 0.01 },
        });
        output = await ensemble.run({}, { throwOnError: false });
      } finally {
        await server.close();
      }
      const { metrics, trace } = output;
      expect(server.requests.every(({ body }) => (body["stream"] === true) === streaming)).to.equal(
        true,
      );
      expect(metrics.llmCallCount).to.equal(counter.calls);
      expect([metrics.inputTokens, metrics.outputTokens]).to.deep.equal([
        counter.input,
        counter.output,
      ]);
      expect(metrics.unknownUsageCalls).to.equal(2); // the overload and the truncated answer; refused calls (429, 400) used nothing
      expect(trace.taskTraces[0]?.delegations.map(({ succeeded }) => succeeded)).to.deep.equal([
        true,
        true,
        false,
      ]);
      for (const by of ["task", "task-tree", "agent", "model", "purpose"] as const) {
        const rows = usageReport(output, { by });
        expect(rows.reduce((sum, row) => sum + row.inputTokens, 0)).to.equal(counter.input);
        expect(rows.reduce((sum, row) => sum + row.calls, 0)).to.equal(counter.calls);
      }
      expect(usageReport(output, { by: "task-tree" })).to.have.length(1); // all calls belong to the manager's task
      const [row] = usageReport(output, { by: "model" });
      expect(row?.cost?.totalCost).to.be.closeTo(
        counter.input * 0.001 + counter.output * 0.01,
        1e-6,
      );
      const document = JSON.parse(trace.toJson()) as {
        readonly metrics: { readonly ledger: readonly unknown[] };
        readonly totalCostEstimate: { readonly totalCost: number; readonly unpricedCalls: number };
      };
      expect(document.metrics.ledger).to.have.length(counter.calls);
      expect(document.totalCostEstimate.totalCost).to.equal(row?.cost?.totalCost);
      expect(document.totalCostEstimate.unpricedCalls).to.equal(2); // the overload and the truncated answer
    });
});

describe("the purpose of a call", () => {
  const purposes = ({ metrics }: EnsembleOutput): readonly string[] =>
    metrics.ledger.map(({ taskId, purpose }) => `${taskId} ${purpose}`);

  it("distinguishes the reviews of phases, and corrections within them, from the work", async () => {
    const judge = new Task({ description: "Judge", outputType: z.object({ a: z.number() }) });
    const phases = [
      new Phase({ name: "p", tasks: [Task.of("Write")], review: new PhaseReview({ task: judge }) }),
    ];
    await using ensemble = new Ensemble({
      model: new ScriptedModel(["text", "no JSON", '{"a":1}']),
      phases,
    });
    expect(purposes(await ensemble.run())).to.deep.equal([
      "p/task-1 task",
      "p/review review",
      "p/review correction",
    ]);
  });

  it("distinguishes mapping from reducing", async () => {
    const parts = {
      mapTask: (n: number) => Task.of(`Read ${n}`),
      reduceTask: (context: readonly Task[]) => new Task({ description: "Merge", context }),
    };
    await using tree = new MapReduceEnsemble({
      model: new ScriptedModel(() => "note"),
      items: [1, 2, 3],
      chunkSize: 2,
      ...parts,
    });
    const rows = usageReport(await tree.run(), { by: "purpose" });
    expect(Object.fromEntries(rows.map(({ key, calls }) => [key, calls]))).to.deep.equal({
      map: 3,
      reduce: 3,
    });
  });
});

describe("a call that the vendor refused", () => {
  const refused = (more: object = {}): ModelCallError =>
    new ModelCallError("later", {
      provider: "p",
      modelId: "m",
      code: "AE_MODEL_RATE_LIMITED",
      retryable: true,
      ...more,
    });
  const run = async (error: Error): Promise<EnsembleOutput> => {
    const model = new ScriptedModel([
      error,
      { text: "ok", usage: { inputTokens: 10, outputTokens: 5 } },
    ]);
    await using ensemble = new Ensemble({
      model,
      tasks: [Task.of("Try")],
      plugins: [retry({ maxAttempts: 2, baseDelayMs: 1 })],
      costConfiguration: { inputTokenRate: 0.01, outputTokenRate: 0.1 },
    });
    return await ensemble.run();
  };

  it("has no usage: a retry keeps tokens and cost known", async () => {
    const { metrics, taskOutputs } = await run(refused());
    expect(metrics).to.include({ llmCallCount: 2, unknownUsageCalls: 0, totalTokens: 15 });
    expect(metrics.costEstimate).to.include({ totalCost: 0.6 });
    expect(taskOutputs[0]?.metrics).to.deep.include({
      totalTokens: 15,
      costEstimate: metrics.costEstimate,
    });
    expect(metrics.ledger[0]).to.include({
      outcome: "failed",
      inputTokens: 0,
      outputTokens: 0,
      cost: 0,
    });
  });

  it("has unknown usage if its answer had begun, or its connection broke", async () => {
    for (const error of [
      refused({ partialText: "Once" }),
      refused({ code: "AE_MODEL_CONNECTION" }),
    ]) {
      const { metrics, taskOutputs, trace } = await run(error);
      expect(metrics).to.include({ unknownUsageCalls: 1, totalTokens: 15 });
      const cost = {
        inputCost: 0.1,
        outputCost: 0.5,
        totalCost: 0.6,
        currency: "USD",
        unpricedCalls: 1,
      };
      expect(metrics.costEstimate).to.deep.equal(cost);
      expect(taskOutputs[0]?.metrics.costEstimate).to.deep.equal(cost);
      expect(trace.totalCostEstimate).to.deep.equal(cost);
      const [row] = usageReport(metrics.ledger, { by: "task" });
      expect([row?.cost, row?.unpricedCalls]).to.deep.equal([cost, 1]);
      expect(formatCost(metrics.costEstimate)).to.equal("at least $0.60");
    }
  });
});

function fail(): never {
  throw new Error("no");
}

describe("metrics.tools", () => {
  it("reports for each tool the number of calls, of failures, and the time", async () => {
    const good = tool({ name: "good", description: "Works", execute: () => "fine" });
    const bad = tool({ name: "bad", description: "Breaks", execute: (): string => fail() });
    const calls = [
      { name: "good", arguments: {} },
      { name: "bad", arguments: {} },
      { name: "good", arguments: {} },
      { name: "unknown", arguments: {} },
    ];
    await using ensemble = new Ensemble({
      model: new ScriptedModel([{ toolCalls: calls }, "done"]),
      tasks: [new Task({ description: "Try", tools: [good, bad] })],
    });
    const { metrics } = await ensemble.run();
    expect(
      metrics.tools.map(({ toolName, calls: n, failures }) => [toolName, n, failures]),
    ).to.have.deep.members([
      ["good", 2, 0],
      ["bad", 1, 1],
      ["unknown", 1, 1],
    ]);
    for (const { durationMs } of metrics.tools) expect(durationMs).to.be.at.least(0);
    expect(metrics.tools).to.equal(metrics.tools);
  });

  it("is the sum of all tasks of a map-reduce run", async () => {
    const read = tool({ name: "read", description: "Reads", execute: () => "text" });
    const model = new ScriptedModel(({ messages, tools = [] }) =>
      tools.length > 0 && messages.every(({ role }) => role !== "tool")
        ? { toolCalls: [{ name: "read", arguments: {} }] }
        : "note",
    );
    await using tree = new MapReduceEnsemble({
      model,
      items: [1, 2, 3],
      mapTask: (n: number) =>
        new Task({ name: `item-${n}`, description: `Read ${n}`, tools: [read] }),
      reduceTask: (context) => new Task({ description: "Merge", context }),
      chunkSize: 5,
    });
    expect(
      (await tree.run()).metrics.tools.map(({ toolName, calls }) => [toolName, calls]),
    ).to.deep.equal([["read", 3]]);
  });
});
