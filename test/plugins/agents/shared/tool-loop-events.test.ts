import type { EnsembleEvent, Ev, EventType } from "agentensemble";
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { winstonLogging } from "agentensemble/logging";
import { expect } from "chai";
import { z } from "zod";
import { echo, runToEnd } from "../../../support/kernel-fixtures.js";

function of<K extends EventType>(events: readonly EnsembleEvent[], type: K): readonly Ev<K>[] {
  return events.filter((event): event is Ev<K> => event.type === type);
}
const warningsOf = (events: readonly EnsembleEvent[]): readonly string[] =>
  of(events, "run_warning").map(({ message }) => message);

const look = tool({ name: "look", description: "Looks", execute: () => "nothing" });
const asked = { toolCalls: [{ name: "look", arguments: { input: "x" } }] };

describe("events of a conversation", () => {
  it("report each refusal of a guardrail, with the remaining retries", async () => {
    const refused = new Task({
      description: "a",
      handler: () => "x",
      guardrailRetries: 1,
      outputGuardrails: [
        function tooShort() {
          return { ok: false, reason: "too short" };
        },
      ],
    });
    const { events } = await runToEnd({ tasks: [refused] });
    const found = of(events, "guardrail_refused");
    expect(found.map(({ attempt, retriesLeft }) => [attempt, retriesLeft])).to.deep.equal([
      [1, 1],
      [2, 0],
    ]);
    expect(found[0]).to.include({
      taskId: "task-1",
      guardrailName: "tooShort",
      kind: "OUTPUT",
      message: "too short",
      agentRole: "(deterministic)",
    });
  });

  it("report a refused input: the task is not repeated", async () => {
    const refused = new Task({
      description: "a",
      handler: () => "x",
      guardrailRetries: 3,
      inputGuardrails: [() => ({ ok: false, reason: "no" })],
    });
    const { events } = await runToEnd({ tasks: [refused] });
    expect(of(events, "guardrail_refused")[0]).to.include({ kind: "INPUT", retriesLeft: 0 });
  });

  it("report each correction of a structured answer", async () => {
    const model = new ScriptedModel(["{}", '{"n": "one"}', '{"n": 1}']);
    const task = new Task({
      description: "a",
      agent: new Agent({ role: "r", goal: "g" }),
      outputType: z.object({ n: z.number() }),
    });
    const { events, output } = await runToEnd({ model, tasks: [task] });
    expect(output.exitReason).to.equal("COMPLETED");
    const found = of(events, "output_corrected");
    expect(found.map(({ correction, of: most }) => [correction, most])).to.deep.equal([
      [1, task.maxOutputRetries],
      [2, task.maxOutputRetries],
    ]);
    expect(found[0]?.errors.join()).to.include("n");
  });

  it("report an agent at its limit of tool calls, and the run warns of it", async () => {
    const agent = new Agent({ role: "Seeker", goal: "g", maxIterations: 1, tools: [look] });
    const model = new ScriptedModel([asked, asked, asked, "found"]);
    const { events } = await runToEnd({ model, tasks: [new Task({ description: "a", agent })] });
    expect(of(events, "iteration_limit_reached").map(({ max, stop }) => [max, stop])).to.deep.equal(
      [
        [1, 1],
        [1, 2],
      ],
    );
    expect(warningsOf(events)).to.deep.equal([
      "Agent 'Seeker' exceeded max iterations (1). Stop message sent (1/3).",
      "Agent 'Seeker' exceeded max iterations (1). Stop message sent (2/3).",
    ]);
  });
});

describe("a blank answer", () => {
  it("becomes empty, and the run warns of it", async () => {
    const agent = new Agent({ role: "Mute", goal: "g" });
    const model = new ScriptedModel([" \n "]);
    const { events, output } = await runToEnd({
      model,
      tasks: [new Task({ description: "a", agent })],
    });
    expect(output.raw).to.equal("");
    expect(warningsOf(events)).to.deep.equal(["Agent 'Mute' returned empty response for task 'a'"]);
  });
});

describe("an unreachable agent", () => {
  const idle = new Agent({ role: "Idle", goal: "g" });
  const busy = new Agent({ role: "Busy", goal: "g" });
  const lead = new Agent({ role: "Lead", goal: "g", allowDelegation: true });

  it("causes a warning", async () => {
    const { events } = await runToEnd({
      model: new ScriptedModel(["done"]),
      agents: [idle, busy],
      tasks: [new Task({ description: "a", agent: busy })],
    });
    expect(warningsOf(events).join()).to.include("Agent 'Idle' is never used").not.include("Busy");
  });

  it("causes no warning for an agent that delegates, or if a manager assigns the tasks", async () => {
    const delegating = await runToEnd({
      model: new ScriptedModel(["done"]),
      agents: [idle],
      tasks: [new Task({ description: "a", agent: lead })],
    });
    expect(warningsOf(delegating.events)).to.deep.equal([]);
    const managed = await runToEnd({
      model: new ScriptedModel(["done"]),
      workflow: "HIERARCHICAL",
      agents: [idle],
      tasks: [Task.of("a")],
    });
    expect(warningsOf(managed.events).join()).to.not.include("never used");
  });
});

describe("the log of a run", () => {
  it("names the number of prior outputs, agents without tools and the limit of tool calls", async () => {
    const lines: string[] = [];
    const logger = {
      log: (level: string, text: string) => void lines.push(`${level} ${text}`),
      info: () => undefined,
      isLevelEnabled: () => true,
    };
    const first = echo("first");
    const seeker = new Agent({ role: "Seeker", goal: "g", maxIterations: 1, tools: [look] });
    const ensemble = new Ensemble({
      model: new ScriptedModel(["plain", asked, asked, "found"]),
      tasks: [
        first,
        new Task({
          description: "b",
          context: [first],
          agent: new Agent({ role: "W", goal: "g" }),
        }),
        new Task({ description: "c", agent: seeker }),
      ],
      workflow: "SEQUENTIAL",
      plugins: [winstonLogging({ logger })],
    });
    await ensemble.run();
    await ensemble.dispose();
    expect(lines).to.include("debug Task 1/3 context: 0 prior outputs");
    expect(lines).to.include("debug Task 2/3 context: 1 prior outputs");
    expect(lines.filter((line) => line.includes("(no tools)"))).to.deep.equal([
      "debug Agent 'W' completed (no tools)",
    ]);
    expect(lines).to.include(
      "warn Agent 'Seeker' exceeded max iterations (1). Stop message sent (1/3).",
    );
  });
});
