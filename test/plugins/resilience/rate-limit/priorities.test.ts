import type { DelegationRequest, LlmCall, RunTaskOptions, WorkflowExecutor } from "agentensemble";
import {
  Agent,
  definePlugin,
  Ensemble,
  RateLimit,
  Task,
  tool,
  Tokens,
  ValidationError,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { failure, scoped, tapping } from "../../../support/kernel-fixtures.js";

type Priority = DelegationRequest["priority"];

const request = (agentRole: string, priority: Priority): DelegationRequest => ({
  taskId: `for ${agentRole}`,
  agentRole,
  taskDescription: `Work as ${agentRole}`,
  scope: {},
  priority,
  maxOutputRetries: 0,
  metadata: {},
});

const roleOf = (call: { readonly messages: readonly unknown[] }): string =>
  /You are (\w+)/.exec(JSON.stringify(call.messages))?.[1] ?? "";

/**
 * The roles of a delegation chain. The first task delegates with `priorities[0]` to Worker1, which
 * delegates with `priorities[1]` to Worker2.
 */
async function prioritiesAlong(
  priorities: readonly Priority[],
): Promise<readonly (readonly [string, Priority | undefined])[]> {
  const seen: [string, Priority | undefined][] = [];
  const agents = priorities.map((_, index) => {
    const next = priorities[index + 1];
    const pass = tool({
      name: "pass",
      description: "Passes it on",
      execute: async (_input, { scope }) =>
        next === undefined
          ? "nobody left"
          : (await scope.delegate(request(`Worker${index + 2}`, next))).status,
    });
    return new Agent({ role: `Worker${index + 1}`, goal: "Pass it on", tools: [pass] });
  });
  const model = new ScriptedModel(({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? "done"
      : { toolCalls: [{ name: "pass", arguments: { input: "on" } }] },
  );
  const watch = tapping("watch", ({ hooks }) =>
    hooks.beforeLlmCall.tap(
      ({ agentRole, iteration, priority }) =>
        void (iteration === 0 && seen.push([agentRole, priority])),
    ),
  );
  const first = scoped(
    "lead",
    async (scope) => void (await scope.delegate(request("Worker1", priorities[0] ?? "NORMAL"))),
  );
  await using ensemble = new Ensemble({
    model,
    agents,
    tasks: [first],
    plugins: [watch],
    maxDelegationDepth: 9,
  });
  await ensemble.run();
  return seen;
}

describe("the priority of a delegation", () => {
  it("determines the order of waiting calls; calls with the same priority keep the order of their arrival", async () => {
    const priorities: readonly Priority[] = ["LOW", "NORMAL", "HIGH", "CRITICAL", "HIGH", "LOW"];
    const model = new ScriptedModel(() => "done");
    const agents = ["First", ...priorities.map((priority, index) => `${priority}${index}`)].map(
      (role) => new Agent({ role, goal: "Work" }),
    );
    const lead = scoped("lead", async (scope) => {
      // The first call takes the only place: all others wait.
      await Promise.all(
        [
          request("First", "NORMAL"),
          ...priorities.map((p, index) => request(`${p}${index}`, p)),
        ].map((one) => scope.delegate(one)),
      );
    });
    await using ensemble = new Ensemble({
      model,
      agents,
      tasks: [lead],
      rateLimit: RateLimit.of(1, 60),
    });
    await ensemble.run();
    expect(model.requests.map(roleOf)).to.deep.equal([
      "First",
      "CRITICAL3",
      "HIGH2",
      "HIGH4",
      "NORMAL1",
      "LOW0",
      "LOW5",
    ]);
  });

  it("applies to the worker's model calls, and to its delegations without a priority", async () => {
    expect(await prioritiesAlong(["HIGH", "NORMAL", "LOW", "NORMAL", "CRITICAL"])).to.deep.equal([
      ["Worker1", "HIGH"],
      ["Worker2", "HIGH"],
      ["Worker3", "LOW"],
      ["Worker4", "LOW"],
      ["Worker5", "CRITICAL"],
    ]);
    expect(await prioritiesAlong(["NORMAL"])).to.deep.equal([["Worker1", "NORMAL"]]);
  });
});

describe("the priority of a task", () => {
  const calls: LlmCall[] = [];
  const watch = tapping("watch", ({ hooks }) =>
    hooks.beforeLlmCall.tap((call) => void calls.push(call)),
  );
  const plugin = (extras: RunTaskOptions): ReturnType<typeof definePlugin> => {
    const workflow: WorkflowExecutor = {
      name: "FIRST",
      execute: async ({ tasks }, run) => {
        const output = await run.runTask(tasks[0]?.id ?? "", extras);
        return { raw: output.raw, taskOutputs: [output] };
      },
    };
    return definePlugin({
      name: "first",
      bind: (bind) => void bind.many(Tokens.WorkflowExecutor).toConstantValue(workflow),
    });
  };
  const run = async (tasks: readonly Task[], extras: RunTaskOptions): Promise<unknown> => {
    await using ensemble = new Ensemble({
      model: new ScriptedModel(() => "done"),
      tasks,
      workflow: "FIRST",
      plugins: [plugin(extras), watch],
    });
    return await ensemble.run();
  };
  beforeEach(() => void calls.splice(0));

  it("is set by its workflow, and is inherited by the tasks that it runs", async () => {
    await run(
      [
        scoped("runs the other", async (scope) => (await scope.runTask("task-2")).raw),
        Task.of("Say something"),
      ],
      { priority: "LOW" },
    );
    expect(calls.map(({ taskId, priority }) => [taskId, priority])).to.deep.equal([
      ["task-2", "LOW"],
    ]);
  });

  it("is refused if it is invalid", async () => {
    const error = await failure(run([Task.of("Say something")], { priority: "URGENT" as "HIGH" })); // what JavaScript may pass
    expect(ValidationError.find(error)?.message).to.match(/priority must be .* got: URGENT/);
    expect(calls).to.have.length(0);
  });
});
