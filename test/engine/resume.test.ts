import type { EnsembleOptions, LlmCall, MemoryEntry, RestoredCall } from "agentensemble";
import {
  MemoryStore,
  ReviewDecision,
  RunCancelledError,
  RunSuspendedError,
  Task,
  ValidationError,
  answer,
  replace,
  tool,
} from "agentensemble";
import { budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { echo, runToEnd, scoped, tapping, untilAborted } from "../support/kernel-fixtures.js";

const usage = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens });
const restored = (text: string, iteration: number): RestoredCall => ({
  provider: "scripted",
  modelId: "scripted",
  purpose: "task",
  iteration,
  response: {
    message: { role: "assistant", content: text },
    finishReason: "stop",
    usage: usage(10, 5),
  },
});
const costConfiguration = { inputTokenRate: 1, outputTokenRate: 2 };

describe("a task that is answered with its model calls", () => {
  it("contains the totals, the cost and the trace of the calls that led to the answer", async () => {
    const { output } = await runToEnd({
      model: new ScriptedModel([{ text: "live", usage: usage(3, 4) }]),
      costConfiguration,
      tasks: [new Task({ name: "done", description: "Done" }), new Task({ description: "Open" })],
      plugins: [
        tapping("journal", ({ hooks }) =>
          hooks.beforeTask.tap({ name: "j", lane: "answer" }, ({ taskId }) =>
            taskId === "done"
              ? answer({
                  raw: "kept",
                  calls: [restored("a tool, please", 0), restored("kept", 1)],
                  toolCallCount: 2,
                })
              : undefined,
          ),
        ),
      ],
    });
    const [done] = output.taskOutputs;
    expect(done?.raw).to.equal("kept");
    expect(done?.toolCallCount).to.equal(2);
    expect(done?.metrics).to.deep.include({ totalTokens: 30, llmCallCount: 2, toolCallCount: 2 });
    expect(output.metrics).to.deep.include({ totalTokens: 37, llmCallCount: 3, toolCallCount: 2 });
    expect(output.metrics.costEstimate?.totalCost).to.equal(2 * 20 + 11);
    expect(output.metrics.ledger.map((u) => `${u.taskId} ${u.outcome}`)).to.deep.equal([
      "done answered",
      "done answered",
      "task-2 ok",
    ]);
    const [trace] = output.trace.taskTraces;
    expect(trace?.llmInteractions.map((c) => [c.iterationIndex, c.responseText])).to.deep.equal([
      [0, "a tool, please"],
      [1, "kept"],
    ]);
  });

  it("fails for an invalid number of tool calls", async () => {
    for (const toolCallCount of [-1, Number.NaN, "9"]) {
      const { error } = await runToEnd({
        tasks: [echo("x")],
        plugins: [
          tapping("journal", ({ hooks }) =>
            hooks.beforeTask.tap({ name: "j", lane: "answer" }, () =>
              answer({ raw: "x", toolCallCount: toolCallCount as number }),
            ),
          ),
        ],
      });
      expect(error?.cause, String(toolCallCount)).to.be.instanceOf(ValidationError);
    }
  });

  it("fails for calls without a response", async () => {
    const { error } = await runToEnd({
      tasks: [echo("x")],
      plugins: [
        tapping("journal", ({ hooks }) =>
          hooks.beforeTask.tap({ name: "j", lane: "answer" }, () =>
            answer({ raw: "x", calls: [{ ...restored("x", 0), response: {} as never }] }),
          ),
        ),
      ],
    });
    expect(error?.cause).to.have.property("code", "AE_MODEL_BAD_RESPONSE");
  });
});

describe("a write to memory that is answered", () => {
  it("does not reach the store, and counts as a write", async () => {
    const store = MemoryStore.inMemory();
    const entry = { content: "fact", storedAt: new Date(0) };
    const after: (MemoryEntry | undefined)[] = [];
    const committed: string[] = [];
    const { output, events } = await runToEnd({
      memoryStore: store,
      tasks: [scoped("writer", (scope) => scope.writeMemory("facts", entry))],
      plugins: [
        tapping("journal", ({ hooks }) => {
          hooks.beforeMemoryWrite.tap({ name: "j", lane: "answer" }, (call) => answer(call.entry));
          hooks.afterMemoryWrite.tap((call) => void after.push(call.entry));
          hooks.afterMemoryWrite.tap({ name: "c", lane: "commit" }, () => void committed.push("c"));
        }),
      ],
    });
    expect(await store.retrieve("facts", "fact", 5)).to.deep.equal([]);
    expect(after.map((e) => e?.content)).to.deep.equal(["fact"]);
    expect(committed).to.deep.equal([]);
    expect(output.metrics.memoryOperations.scopeWrites).to.equal(1);
    expect(events.some(({ type }) => type === "memory_written")).to.equal(true);
  });

  it("fails for an answer that is not an entry", async () => {
    const { error } = await runToEnd({
      memoryStore: MemoryStore.inMemory(),
      tasks: [
        scoped("writer", (scope) =>
          scope.writeMemory("facts", { content: "x", storedAt: new Date(0) }),
        ),
      ],
      plugins: [
        tapping("journal", ({ hooks }) =>
          hooks.beforeMemoryWrite.tap({ name: "j", lane: "answer" }, () => answer({} as never)),
        ),
      ],
    });
    expect(error?.message).to.include("must return the entry");
  });
});

describe("a run that is suspended", () => {
  const suspend = (): string => {
    throw new RunSuspendedError("waits for a person");
  };
  const work = tool({ name: "work", description: "Works", execute: suspend });
  const cases: Readonly<Record<string, Partial<EnsembleOptions>>> = {
    "by a handler": { tasks: [new Task({ description: "waits", handler: suspend })] },
    "by a tool of an agent": {
      model: new ScriptedModel([{ toolCalls: [{ name: "work", arguments: { input: "x" } }] }]),
      tasks: [new Task({ description: "waits", tools: [work] })],
    },
    "by a tap of a task": {
      tasks: [echo("waits")],
      plugins: [tapping("t", ({ hooks }) => hooks.beforeTask.tap(({ attempt, task }) => {
        if (attempt === 1 && task.description === "waits") suspend();
      }))], // prettier-ignore
    },
    "by a tap that may be skipped": {
      tasks: [echo("waits")],
      plugins: [tapping("t", ({ hooks }) => hooks.afterTask.tap({ name: "t", onError: "skip" }, ({ task }) => {
        if (task.description === "waits") suspend();
      }))], // prettier-ignore
    },
    "by a review handler": {
      tasks: [echo("waits")],
      reviewPolicy: "AFTER_EVERY_TASK",
      reviewHandler: ({ taskDescription }) => {
        if (taskDescription === "waits") suspend();
        return ReviewDecision.continue();
      },
    },
  };
  for (const [by, options] of Object.entries(cases)) {
    it(`rejects with the reason and keeps its outputs: ${by}`, async () => {
      const { output, error, events } = await runToEnd({
        ...options,
        tasks: [echo("first"), ...(options.tasks ?? []), echo("last")],
      });
      expect(error).to.be.instanceOf(RunSuspendedError);
      expect(error).to.be.instanceOf(RunCancelledError);
      expect(error?.code).to.equal("AE_RUN_SUSPENDED");
      expect(output.exitReason).to.equal("SUSPENDED");
      expect(output.taskOutputs.map(({ raw }) => raw)).to.include("first");
      expect(output.taskOutputs.map(({ raw }) => raw)).to.not.include("last");
      expect(output.trace.exitReason).to.equal("SUSPENDED");
      expect(events.some(({ type }) => type === "run_failed")).to.equal(false);
    });
  }

  it("waits for parallel work in progress", async () => {
    let finish = (): void => undefined;
    const slow = new Task({
      description: "slow",
      handler: () => new Promise<string>((resolve) => (finish = () => resolve("slow"))),
    });
    const waits = new Task({
      description: "waits",
      handler: () => {
        setImmediate(() => finish());
        return suspend();
      },
    });
    const { output } = await runToEnd({ tasks: [slow, waits], workflow: "PARALLEL" });
    expect(output.exitReason).to.equal("SUSPENDED");
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["slow"]);
  });
});

describe("a run that a tap cancels", () => {
  it("aborts work in progress, and rejects with the reason", async () => {
    const signals: AbortSignal[] = [];
    const waits = new Task({
      description: "waits",
      handler: ({ signal }): Promise<string> => {
        signals.push(signal);
        return untilAborted(signal);
      },
    });
    const reason = new RunCancelledError("enough");
    const { output, error } = await runToEnd({
      tasks: [waits, echo("never")],
      plugins: [
        tapping("t", ({ hooks }) =>
          hooks.beforeTask.tap(({ run }) => void setImmediate(() => run.cancel(reason))),
        ),
      ],
    });
    expect(error).to.equal(reason);
    expect(signals[0]?.aborted).to.equal(true);
    expect(output.exitReason).to.equal("CANCELLED");
    expect(output.taskOutputs).to.deep.equal([]);
  });
});

describe("usage of other processes", () => {
  it("is in ledger, totals and trace with the purpose remote", async () => {
    const { output } = await runToEnd({
      model: new ScriptedModel([{ text: "x", usage: usage(1, 1) }]),
      costConfiguration,
      tasks: [
        scoped("remote", async (scope) => {
          scope.recordMetrics({
            usage: [
              { source: "https://far", provider: "p", modelId: "m", ...usage(7, 3), calls: 2, cost: 4 }, // prettier-ignore
              { provider: "p", modelId: "n", ...usage(2, 0) },
            ],
          });
          await scope.chat({ messages: [{ role: "user", content: "hello" }] }, { purpose: "task" });
        }),
      ],
    });
    expect(output.metrics).to.deep.include({ totalTokens: 14, llmCallCount: 4 });
    expect(output.metrics.costEstimate?.totalCost).to.equal(4 + 2 + 3);
    expect(output.taskOutputs[0]?.metrics.llmCallCount).to.equal(4);
    const { ledger } = output.metrics;
    expect(ledger.map((u) => [u.purpose, u.source, u.modelId])).to.deep.equal([
      ["remote", "https://far", "m"],
      ["remote", undefined, "n"],
      ["task", undefined, "scripted"],
    ]);
    const calls = output.trace.taskTraces[0]?.llmInteractions ?? [];
    expect(calls.map((c) => c.purpose)).to.deep.equal(["remote", "remote", "task"]);
    expect(calls[2]?.iterationIndex).to.equal(0);
  });

  it("requires a model and valid numbers", async () => {
    for (const bad of [{ provider: "" }, { calls: -1 }, { cost: Number.NaN }]) {
      const { error } = await runToEnd({
        tasks: [
          scoped("remote", async (scope) =>
            scope.recordMetrics({ usage: [{ provider: "p", modelId: "m", ...bad }] }),
          ),
        ],
      });
      expect(error?.message, JSON.stringify(bad)).to.include("recordMetrics usage");
    }
  });

  it("is refused if another process sends an invalid record", async () => {
    const entry = { provider: "p", modelId: "m" };
    for (const usage of [
      null,
      5,
      [null],
      [{ ...entry, source: {} }],
      [{ ...entry, currency: 5 }],
    ]) {
      const { error } = await runToEnd({
        tasks: [scoped("remote", async (scope) => scope.recordMetrics({ usage: usage as never }))],
      });
      expect(ValidationError.find(error), JSON.stringify(usage)).to.be.instanceOf(ValidationError);
      const plugins = [
        tapping("journal", ({ hooks }) =>
          hooks.beforeRun.tap(({ run }) => run.spent(usage as never)),
        ),
      ];
      const spent = await runToEnd({ tasks: [scoped("any", async () => undefined)], plugins });
      expect(spent.error, JSON.stringify(usage)).to.be.instanceOf(ValidationError);
    }
  });
});

describe("usage of earlier executions of a run", () => {
  const entry = { provider: "p", modelId: "m", ...usage(200, 100) };
  const spending = (restored: boolean) =>
    tapping("journal", ({ hooks }) =>
      hooks.beforeRun.tap(({ run }) => run.spent([{ ...entry, restored }])),
    );
  const ask = { model: new ScriptedModel(["x"], { onExhausted: "repeat-last" }) };

  it("counts in the budget from the start", async () => {
    for (const first of [true, false]) {
      const plugins = [spending(true), budget({ maxTokens: 320, maxOutputTokensPerCall: 50 })];
      const { error } = await runToEnd({
        ...ask,
        tasks: [new Task({ description: "Say x" })],
        plugins: first ? plugins : plugins.reverse(),
      });
      expect(error).to.have.property("code", "AE_BUDGET_EXCEEDED");
    }
  });

  it("counts in the totals once if a restored answer contains it", async () => {
    const totals = async (restored: boolean): Promise<number> =>
      (await runToEnd({ tasks: [echo("x")], plugins: [spending(restored)] })).output.metrics
        .totalTokens;
    expect(await totals(false)).to.equal(300);
    expect(await totals(true)).to.equal(0);
  });

  it("is not counted twice in the budget for restored answers", async () => {
    const paid = new ScriptedModel([{ text: "kept", usage: usage(200, 100) }]);
    const model = {
      provider: "p",
      modelId: "m",
      capabilities: { exemptFromBudgets: true },
      chat: (request: LlmCall["request"]) => paid.chat(request),
    };
    const { output } = await runToEnd({
      ...ask,
      tasks: [new Task({ description: "Say x" })],
      plugins: [
        spending(true),
        budget({ maxTokens: 320, maxOutputTokensPerCall: 50 }),
        tapping("restored", ({ hooks }) =>
          hooks.beforeLlmCall.tap({ name: "r", lane: "transform" }, () => replace({ model })),
        ),
      ],
    });
    expect(output.raw).to.equal("kept");
  });
});
