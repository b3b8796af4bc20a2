import type { EnsembleEvent, Ev, EventType } from "agentensemble";
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { echo, runToEnd, tapping } from "../support/kernel-fixtures.js";

function of<K extends EventType>(events: readonly EnsembleEvent[], type: K): readonly Ev<K>[] {
  return events.filter((event): event is Ev<K> => event.type === type);
}

interface Asked {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}
const call = (name: string, args: Asked["arguments"] = {}): Asked => ({ name, arguments: args });
const greet = tool({
  name: "greet",
  title: "Say hello",
  description: "Greets",
  input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
  execute: () => "hello",
});
const secret = tool({ name: "secret", private: true, description: "Knows", execute: () => "s" });
const broken = tool({
  name: "broken",
  description: "Breaks",
  execute: (): string => {
    throw new Error("out of order");
  },
});

describe("events of tool calls", () => {
  const agent = new Agent({ role: "r", goal: "g", tools: [greet, secret, broken] });
  const tasks = [new Task({ description: "a", agent })];

  it("pair each tool_started with one tool_called by callId, for every outcome", async () => {
    const model = new ScriptedModel([
      { toolCalls: [call("greet", { n: 1 }), call("greet", {}), call("nobody")] },
      { toolCalls: [call("secret", { input: "x" }), call("broken", { input: "x" })] },
      "done",
    ]);
    const { events } = await runToEnd({ model, tasks });
    const started = of(events, "tool_started");
    const called = of(events, "tool_called");
    expect(started.map(({ toolName, iteration }) => [toolName, iteration])).to.deep.equal([
      ["greet", 0],
      ["greet", 0],
      ["nobody", 0],
      ["secret", 1],
      ["broken", 1],
    ]);
    expect(new Set(started.map(({ callId }) => callId)).size).to.equal(5);
    const outcomes = started.map(({ callId }) => called.filter((e) => e.callId === callId));
    expect(outcomes.map((found) => found.map((e) => [e.toolOutcome, e.iteration]))).to.deep.equal([
      [["SUCCESS", 0]],
      [["FAILURE", 0]],
      [["FAILURE", 0]],
      [["SUCCESS", 1]],
      [["ERROR", 1]],
    ]);
    for (const { callId, seq } of started)
      expect(seq).to.be.below(called.find((e) => e.callId === callId)?.seq ?? -1);
  });

  it("have the title of a tool and whether it is private, if these are set", async () => {
    const model = new ScriptedModel([
      { toolCalls: [call("greet", { n: 1 }), call("secret", { input: "x" })] },
      "done",
    ]);
    const { events } = await runToEnd({ model, tasks });
    const [first, second] = of(events, "tool_started");
    expect(first).to.include({ title: "Say hello", toolArguments: '{"n":1}' });
    expect(first).to.not.have.property("private");
    expect(second).to.include({ private: true }).and.not.have.property("title");
  });

  it("precede the policies of the call, and name no model call for a handler", async () => {
    const order: string[] = [];
    const plugin = tapping("order", ({ hooks, events }) => {
      events.on(({ type }) => void order.push(type), { only: ["tool_started", "tool_called"] });
      hooks.beforeToolCall.tap(() => void order.push("beforeToolCall"));
    });
    const handled = [new Task({ description: "a", handler: secret })];
    const { events } = await runToEnd({ tasks: handled, plugins: [plugin] });
    expect(order).to.deep.equal(["tool_started", "beforeToolCall", "tool_called"]);
    expect(of(events, "tool_started")[0]).to.include({ iteration: -1 });
  });

  it("are not built without a listener", async () => {
    const heard: boolean[] = [];
    const plugin = tapping("ask", ({ hooks }) =>
      hooks.beforeToolCall.tap(({ run }) => void heard.push(run.listens("tool_started"))),
    );
    const handled = [new Task({ description: "a", handler: secret })];
    const ensemble = new Ensemble({ tasks: handled, plugins: [plugin] });
    await ensemble.run();
    expect(heard).to.deep.equal([false]);
    await ensemble.dispose();
  });
});

describe("events of tasks", () => {
  it("have the attempt: the first at the start, the last at the end", async () => {
    let done = 0;
    const again = new Task({
      description: "again",
      handler: () => String(++done),
      guardrailRetries: 2,
      outputGuardrails: [() => (done > 1 ? { ok: true } : { ok: false, reason: "once more" })],
    });
    const { events } = await runToEnd({ tasks: [again, echo("b")] });
    expect(of(events, "task_started").map(({ attempt }) => attempt)).to.deep.equal([1, 1]);
    expect(of(events, "task_completed").map(({ attempt }) => attempt)).to.deep.equal([2, 1]);
  });

  it("have the attempt of a failure, also before the task could begin", async () => {
    const refused = new Task({
      description: "a",
      handler: () => "x",
      guardrailRetries: 1,
      outputGuardrails: [() => ({ ok: false, reason: "no" })],
    });
    expect(of((await runToEnd({ tasks: [refused] })).events, "task_failed")[0]).to.include({
      attempt: 2,
    });
  });
});

describe("events of delegations", () => {
  it("contain the id of the worker's task from the start; those of a refused delegation contain none", async () => {
    const lead = new Agent({ role: "Lead", goal: "g", allowDelegation: true });
    const worker = new Agent({ role: "Worker", goal: "g" });
    const model = new ScriptedModel([
      { toolCalls: [call("delegate", { agentRole: "Worker", taskDescription: "help" })] },
      "helped",
      { toolCalls: [call("delegate", { agentRole: "Lead", taskDescription: "me" })] },
      "done",
    ]);
    const { events } = await runToEnd({
      model,
      agents: [worker],
      tasks: [new Task({ description: "a", agent: lead })],
    });
    const child = of(events, "task_started").find((e) => e.parentTaskId !== undefined)?.taskId;
    expect(child).to.be.a("string");
    expect(of(events, "delegation_started").map((e) => e.workerTaskId)).to.deep.equal([child]);
    expect(of(events, "delegation_completed").map((e) => e.workerTaskId)).to.deep.equal([child]);
    const [refused] = of(events, "delegation_failed");
    expect(refused?.reason).to.include("yourself");
    expect(refused).to.not.have.property("workerTaskId");
  });
});
