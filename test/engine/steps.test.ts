import type { ChatModel, DelegationRequest, EnsembleHooks, EnsembleOptions } from "agentensemble";
import { Agent, ExitEarlySignal, Task, ToolResult, reject, replace } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { echo, runToEnd, scoped, tapping, untilAborted } from "../support/kernel-fixtures.js";
import { pause } from "../support/time.js";

const request = (taskId: string, agentRole: string): DelegationRequest => ({
  taskId,
  agentRole,
  taskDescription: `Work as ${agentRole}`,
  scope: {},
  priority: "NORMAL",
  maxOutputRetries: 0,
  metadata: {},
});

const writer = (model: ChatModel, role = "Writer"): Agent =>
  new Agent({ role, goal: "Write", model });

describe("a task whose output was accepted", () => {
  it("fails when a commit tap fails, and its output remains among the finished outputs", async () => {
    const { error, output } = await runToEnd({
      tasks: [echo("first"), echo("second")],
      plugins: [
        tapping("store", ({ hooks }) => {
          hooks.afterTask.tap({ name: "store", lane: "commit" }, ({ task }) => {
            if (task.description === "second") throw new Error("disk full");
          });
        }),
      ],
    });
    expect(error?.cause).to.have.property("code", "AE_PLUGIN");
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["first", "second"]);
    const [, second] = output.trace.taskTraces;
    expect(second).to.include({ outcome: "failed", finalOutput: "second" });
  });

  it("is not stored when a review fails before", async () => {
    const { output } = await runToEnd({
      tasks: [echo("first")],
      plugins: [
        tapping("ask", ({ hooks }) => {
          hooks.afterTask.tap({ name: "ask", lane: "review" }, () => {
            throw new Error("no reviewer");
          });
        }),
      ],
    });
    expect(output.taskOutputs).to.deep.equal([]);
    expect(output.trace.taskTraces).to.have.lengthOf(1);
    expect(output.trace.taskTraces[0]).to.include({ outcome: "failed", finalOutput: undefined });
  });
});

describe("parallel delegations", () => {
  it("each keep the record, the response and the hooks of their own worker", async () => {
    const slow: ChatModel = {
      provider: "test",
      modelId: "slow",
      chat: async () => {
        await pause(5);
        return { message: { role: "assistant", content: "slow text" }, finishReason: "stop" };
      },
    };
    const seen: unknown[] = [];
    const { output, error } = await runToEnd({
      agents: [writer(slow, "Slow"), writer(new ScriptedModel(["quick text"]), "Quick")],
      tasks: [
        scoped("boss", async (scope) => {
          const responses = await Promise.all([
            scope.delegate(request("d1", "Slow")),
            scope.delegate(request("d2", "Quick")),
          ]);
          return responses.map(({ taskId, rawOutput }) => `${taskId}: ${rawOutput ?? ""}`).join();
        }),
      ],
      plugins: [
        tapping("watch", ({ hooks }) =>
          hooks.afterDelegation.tap(
            ({ request: { taskId }, response }) => void seen.push([taskId, response?.rawOutput]),
          ),
        ),
      ],
    });
    expect(error).to.equal(undefined);
    expect(output.raw).to.equal("d1: slow text,d2: quick text");
    expect(seen).to.deep.equal([
      ["d2", "quick text"],
      ["d1", "slow text"],
    ]);
    const { delegations = [] } = output.trace.taskTraces.find((t) => t.taskId === "task-1") ?? {};
    const workers = delegations.map((d) => [d.workerRole, d.workerTrace?.finalOutput]);
    expect(workers).to.deep.equal([
      ["Quick", "quick text"],
      ["Slow", "slow text"],
    ]);
  });
});

describe("a task that ends before its delegation", () => {
  it("cancels the worker", async () => {
    let signal: AbortSignal | undefined;
    const waitingModel: ChatModel = {
      provider: "test",
      modelId: "waiting",
      chat: (_request, o = {}) => {
        ({ signal } = o);
        return signal === undefined ? Promise.reject(new Error("no signal")) : untilAborted(signal);
      },
    };
    const boss = scoped("boss", async (scope) => {
      await scope.delegate(request("d1", "Writer"));
    });
    const { events } = await runToEnd({
      agents: [writer(waitingModel)],
      tasks: [boss.with({ timeoutMs: 5 })],
    });
    expect(signal?.aborted).to.equal(true);
    const ends = events.flatMap((event) => (event.type === "task_failed" ? [event.taskId] : []));
    expect(ends).to.deep.equal(["task-1.1", "task-1"]);
  });
});

describe("a cancelled run", () => {
  it("ends a worker before the task that waits for it", async () => {
    const deaf: ChatModel = {
      provider: "test",
      modelId: "deaf",
      chat: () => new Promise(() => undefined),
    };
    const controller = new AbortController();
    const { events } = await runToEnd(
      {
        agents: [writer(deaf)],
        tasks: [
          scoped("boss", async (scope) => {
            const running = scope.delegate(request("d1", "Writer"));
            await pause();
            controller.abort();
            return (await running).status;
          }),
        ],
      },
      { signal: controller.signal, cancelGraceMs: 10 },
    );
    const ends = events.flatMap((event) =>
      event.type === "task_failed" || event.type === "delegation_failed"
        ? [`${event.type} ${event.taskId}`]
        : [],
    );
    expect(ends).to.deep.equal([
      "task_failed task-1.1",
      "delegation_failed task-1",
      "task_failed task-1",
    ]);
  });

  it("starts no delegation that a tap is still judging, and reports its failure once", async () => {
    const controller = new AbortController();
    const { events, output } = await runToEnd(
      {
        agents: [writer(new ScriptedModel(["text"]))],
        tasks: [
          scoped("boss", async (scope) => (await scope.delegate(request("d1", "Writer"))).status),
        ],
        plugins: [
          tapping("judge", ({ hooks }) =>
            hooks.beforeDelegation.tap(async () => {
              controller.abort();
              await pause();
            }),
          ),
        ],
      },
      { signal: controller.signal },
    );
    expect(output.exitReason).to.equal("CANCELLED");
    const delegations = events.filter(({ type }) => type.startsWith("delegation"));
    expect(delegations.map(({ type }) => type)).to.deep.equal(["delegation_failed"]);
    expect(output.metrics.ledger).to.deep.equal([]);
  });
});

describe("an early exit that a review requests", () => {
  const exit = (): never => {
    throw new ExitEarlySignal("enough");
  };
  const boss = scoped("boss", async (scope) => {
    const response = await scope.delegate(request("d1", "Writer"));
    return response.rawOutput;
  });
  const steps: readonly (readonly [string, (hooks: EnsembleHooks) => void])[] = [
    [
      "a model call",
      ({ afterLlmCall }): void => afterLlmCall.tap({ name: "r", lane: "review" }, exit),
    ],
    [
      "a tool call",
      ({ afterToolCall }): void => afterToolCall.tap({ name: "r", lane: "review" }, exit),
    ],
    [
      "a delegation",
      ({ afterDelegation }): void => afterDelegation.tap({ name: "r", lane: "review" }, exit),
    ],
    ["a task", ({ afterTask }): void => afterTask.tap({ name: "r", lane: "review" }, exit)],
  ];
  for (const [step, tap] of steps) {
    it(`ends the run after ${step}`, async () => {
      const options: EnsembleOptions = {
        agents: [writer(new ScriptedModel(["text"]))],
        tasks: [boss, echo("next")],
        plugins: [tapping("review", ({ hooks }) => tap(hooks))],
      };
      const { output, error } = await runToEnd(options);
      expect([output.exitReason, error]).to.deep.equal(["USER_EXIT_EARLY", undefined]);
      expect(output.taskOutputs.some(({ raw }) => raw === "next")).to.equal(false);
    });
  }

  it("keeps the outcome and the result of the reviewed tool call", async () => {
    const judge = ({ afterToolCall }: EnsembleHooks): void => {
      const result = ToolResult.success("edited");
      afterToolCall.tap({ name: "e", lane: "review" }, () => replace({ result }));
      afterToolCall.tap({ name: "p", lane: "policy" }, (call) =>
        call.result?.output === "edited" ? reject("no edits") : undefined,
      );
    };
    const ways: readonly (readonly [string, string, (hooks: EnsembleHooks) => void])[] = [
      ["SUCCESS", "found", (): void => undefined],
      ["REJECTED", "Error: no edits", judge],
    ];
    for (const [toolOutcome, toolResult, tap] of ways) {
      const { events, output, error } = await runToEnd({
        tasks: [scoped("find", () => Promise.resolve("found")), echo("next")],
        plugins: [
          tapping("review", ({ hooks }) => {
            tap(hooks);
            hooks.afterToolCall.tap({ name: "r", lane: "review" }, exit);
          }),
        ],
      });
      expect([output.exitReason, error]).to.deep.equal(["USER_EXIT_EARLY", undefined]);
      const called = events.find((event) => event.type === "tool_called");
      expect(called).to.include({ toolOutcome, toolResult });
    }
  });
});

describe("a record of an attempt", () => {
  it("is kept once for each attempt, with any outcome", async () => {
    const ways: readonly (readonly [string, (hooks: EnsembleHooks) => void])[] = [
      ["ok", () => undefined],
      [
        "rejected",
        ({ afterTask }): void =>
          afterTask.tap({ name: "p", lane: "policy" }, () => ({ verb: "reject", reason: "no" })),
      ],
      [
        "rejected",
        ({ beforeTask }): void => beforeTask.tap(() => ({ verb: "reject", reason: "no" })),
      ],
      [
        "answered",
        ({ beforeTask }): void =>
          beforeTask.tap({ name: "a", lane: "answer" }, () => ({
            verb: "answer",
            value: { raw: "x" },
          })),
      ],
      [
        "aborted",
        ({ beforeTask }): void =>
          beforeTask.tap(() => {
            throw new ExitEarlySignal("enough");
          }),
      ],
    ];
    for (const [outcome, tap] of ways) {
      const { output } = await runToEnd({
        tasks: [new Task({ description: "work", handler: () => "done" })],
        plugins: [tapping("way", ({ hooks }) => tap(hooks))],
      });
      expect(output.trace.taskTraces.map((t) => t.outcome)).to.deep.equal([outcome]);
    }
  });
});
