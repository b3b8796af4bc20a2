import type { LlmCall, TaskCall, ToolContext } from "agentensemble";
import { Agent, AgentSynthesizer, GuardrailResult, Task, resumeOf, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd, scoped, tapping } from "../support/kernel-fixtures.js";
import { pause } from "../support/time.js";

describe("the names of tasks and calls within a run", () => {
  it("names delegated tasks after the tool call that delegates, in any order of the workers", async () => {
    const turn = (role: string) => ({
      name: "delegate",
      arguments: { agentRole: role, taskDescription: `Work of ${role}` },
      id: `to-${role}`,
    });
    const identities = async (slow: string): Promise<Record<string, string>> => {
      const seen: Record<string, string> = {};
      const model = new ScriptedModel((_, index) =>
        index === 0 ? { toolCalls: [turn("A"), turn("B")] } : "done",
      );
      const lead = new Agent({ role: "Lead", goal: "Lead", allowDelegation: true });
      await runToEnd({
        model,
        tasks: [new Task({ name: "lead", description: "Lead", agent: lead })],
        agents: ["A", "B"].map((role) => new Agent({ role, goal: "Work" })),
        plugins: [
          tapping("slow", ({ hooks }) => {
            hooks.beforeDelegation.tap(async ({ request }) => {
              if (request.agentRole === slow) await pause(20);
            });
            hooks.beforeTask.tap(({ task, identity, taskId }) => {
              seen[task.description] = identity;
              seen[taskId] = task.description;
            });
          }),
        ],
      });
      return seen;
    };
    const first = await identities("A");
    const second = await identities("B");
    expect(first["lead.1"], "the ids depend on the order").to.not.equal(second["lead.1"]);
    for (const role of ["A", "B"])
      for (const seen of [first, second])
        expect(seen[`Work of ${role}`]).to.equal(`lead@1>to-${role}`);
    expect(first["Lead"]).to.equal("lead");
  });

  it("distinguish the second delegation of one tool call, and its second attempt, from the first", async () => {
    const calls: TaskCall[] = [];
    const boss = scoped("boss", async (scope) => {
      for (const n of [1, 2])
        await scope.delegate(
          {
            taskId: `d${n}`,
            agentRole: "Worker",
            taskDescription: `Part ${n}`,
            scope: {},
            priority: "NORMAL",
            maxOutputRetries: 0,
            metadata: {},
          },
          { toolCallId: "c1" },
        );
    });
    const again = new Task({
      description: "again",
      handler: () => "x",
      guardrailRetries: 1,
      outputGuardrails: [
        () => (calls.at(-1)?.attempt === 2 ? true : GuardrailResult.failure("once more")),
      ],
    });
    await runToEnd({
      model: new ScriptedModel(["one", "two"]),
      agents: [new Agent({ role: "Worker", goal: "Work" })],
      tasks: [boss, again],
      plugins: [tapping("see", ({ hooks }) => hooks.beforeTask.tap((c) => void calls.push(c)))],
    });
    expect(calls.map(({ identity, attempt }) => `${identity}@${attempt}`)).to.deep.equal([
      "task-1@1",
      "task-1@1>c1@1",
      "task-1@1>c1~2@1",
      "task-2@1",
      "task-2@2",
    ]);
  });

  it("passes an idempotency key to tools and handlers", async () => {
    const keys: string[] = [];
    const pay = tool({
      name: "pay",
      description: "Pays",
      execute: (_, ctx: ToolContext) => void keys.push(ctx.idempotencyKey),
    });
    const hooked: string[] = [];
    await runToEnd(
      {
        model: new ScriptedModel([
          { toolCalls: [{ name: "pay", arguments: { input: "1" }, id: "id" }] },
          { toolCalls: [{ name: "pay", arguments: { input: "2" }, id: "id" }] },
          "paid",
        ]),
        tasks: [
          new Task({ name: "bill", description: "Pay", tools: [pay] }),
          new Task({
            name: "code",
            description: "Code",
            handler: (ctx) => (keys.push(ctx.idempotencyKey), "x"),
          }),
        ],
        plugins: [
          tapping("see", ({ hooks }) =>
            hooks.beforeToolCall.tap(({ idempotencyKey }) => void hooked.push(idempotencyKey)),
          ),
        ],
      },
      { runId: "r1" },
    );
    expect(keys).to.deep.equal(["r1/bill@1/id", "r1/bill@1/id~2", "r1/code@1"]);
    expect(hooked).to.deep.equal(keys.slice(0, 2));
  });

  it("assigns unique keys, with any ids that a model chooses", async () => {
    const keys: string[] = [];
    const pay = tool({
      name: "pay",
      description: "Pays",
      execute: (_, ctx: ToolContext) => void keys.push(ctx.idempotencyKey),
    });
    const ids = ["t", "t~2", "t", "t", "t~2"];
    const toolCalls = ids.map((id) => ({ name: "pay", arguments: { input: "1" }, id }));
    await runToEnd({
      model: new ScriptedModel([{ toolCalls }, "paid"]),
      tasks: [new Task({ description: "Pay", tools: [pay] })],
    });
    expect(new Set(keys).size).to.equal(ids.length);
  });

  it("assigns unique keys when the name of a task looks like a task and an attempt", async () => {
    const keys: string[] = [];
    const pay = tool({
      name: "pay",
      description: "Pays",
      execute: (_, ctx: ToolContext) => void keys.push(ctx.idempotencyKey),
    });
    const calls = [
      ["a", "b@1/t"],
      ["a@1/b", "t"],
      ["a%401/b", "t"],
    ] as const;
    await runToEnd(
      {
        model: new ScriptedModel(
          calls.flatMap(([, id]) => [
            { toolCalls: [{ name: "pay", arguments: { input: "1" }, id }] },
            "paid",
          ]),
        ),
        workflow: "SEQUENTIAL",
        tasks: calls.map(([name]) => new Task({ name, description: name, tools: [pay] })),
      },
      { runId: "r" },
    );
    expect(keys).to.deep.equal(["r/a@1/b%401/t", "r/a%401/b@1/t", "r/a%25401/b@1/t"]);
  });

  it("never assigns the name of another task as the identity of a delegated task", async () => {
    const calls: TaskCall[] = [];
    const boss = scoped("a", async (scope) => {
      await scope.delegate(
        {
          taskId: "d",
          agentRole: "Worker",
          taskDescription: "Part",
          scope: {},
          priority: "NORMAL",
          maxOutputRetries: 0,
          metadata: {},
        },
        { toolCallId: "t" },
      );
    });
    await runToEnd({
      model: new ScriptedModel(["one"]),
      agents: [new Agent({ role: "Worker", goal: "Work" })],
      tasks: [
        boss.with({ name: "a" }),
        new Task({ name: "a@1>t", description: "x", handler: () => "x" }),
      ],
      plugins: [tapping("see", ({ hooks }) => hooks.beforeTask.tap((c) => void calls.push(c)))],
    });
    expect(calls.map(({ identity }) => identity)).to.deep.equal(["a", "a@1>t", "a%401>t"]);
  });

  it("assigns model calls to an attempt of the task, 0 while its agent is created", async () => {
    const calls: LlmCall[] = [];
    const task = new Task({
      description: "Write",
      guardrailRetries: 1,
      outputGuardrails: [({ raw }) => (raw === "good" ? true : GuardrailResult.failure("no"))],
    });
    const writer = JSON.stringify({ role: "Writer", goal: "Write", background: "Wrote" });
    await runToEnd({
      model: new ScriptedModel([writer, "bad", "good"]),
      tasks: [task],
      agentSynthesizer: AgentSynthesizer.llmBased(),
      plugins: [
        tapping("see", ({ hooks }) => hooks.beforeLlmCall.tap((call) => void calls.push(call))),
      ],
    });
    expect(calls.map(({ taskAttempt, purpose }) => `${purpose} ${taskAttempt}`)).to.deep.equal([
      "synthesis 0",
      "task 1",
      "task 2",
    ]);
  });

  it("determines by the options of the tool how a resumed run handles a call without a result", () => {
    const made = (o: object) => tool({ name: "t", description: "T", execute: () => "x", ...o });
    expect(resumeOf(made({ effect: "read" }), "x")).to.equal("again");
    expect(resumeOf(made({ delegates: true }), "x")).to.equal("again");
    expect(resumeOf(made({ effect: "write" }), "x")).to.equal("ask");
    expect(resumeOf(made({}), "x")).to.equal("ask");
    expect(resumeOf(made({ effect: "read", effectOf: () => "send" }), "x")).to.equal("ask");
    expect(resumeOf(made({ effect: "read", resume: "fail" }), "x")).to.equal("fail");
    expect(() => made({ resume: "maybe" })).to.throw("resume");
  });
});
