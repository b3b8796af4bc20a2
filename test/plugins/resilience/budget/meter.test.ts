import type { Clock, Ev } from "agentensemble";
import { Agent, Ensemble, Task, Tokens, definePlugin } from "agentensemble";
import { budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runToEnd, typesOf, type Ended } from "../../../support/kernel-fixtures.js";

const agent = new Agent({ role: "r", goal: "g" });
const tasks = (count: number): Task[] =>
  Array.from({ length: count }, (_, i) => new Task({ description: `Do ${i}`, agent }));
const spending = (): ScriptedModel =>
  new ScriptedModel(() => ({ text: "x", usage: { inputTokens: 7, outputTokens: 3 } }));

/** A clock that advances by `stepMs` with each reading. */
function stepping(stepMs: number) {
  let ms = 0;
  const clock: Clock = { now: () => new Date(0), monotonicMs: () => (ms += stepMs) };
  return definePlugin({
    name: "stepping-clock",
    bind: (bind) => void bind.single(Tokens.Clock).toConstantValue(clock),
  });
}

const opened = ({ events }: Ended): Ev<"budget_opened">[] =>
  events.filter((event) => event.type === "budget_opened");
const changed = ({ events }: Ended): Ev<"budget_changed">[] =>
  events.filter((event) => event.type === "budget_changed");
const timers = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

describe("the events of a budget", () => {
  it("state the limits of the run, before its first task", async () => {
    const ended = await runToEnd({
      model: spending(),
      tasks: tasks(1),
      costConfiguration: { inputTokenRate: 0.5, outputTokenRate: 1 },
      plugins: [
        stepping(0),
        budget({ maxCost: 9_000, maxDurationMs: 60_000, onExceeded: "reject" }),
      ],
    });
    expect(opened(ended)).to.have.length(1);
    expect(opened(ended)[0]).to.deep.include({
      limits: { maxCost: 9_000, maxDurationMs: 60_000 },
      used: { tokens: 0, cost: 0, durationMs: 0 },
      action: "reject",
    });
    const types = typesOf(ended.events);
    expect(types.lastIndexOf("budget_opened")).to.be.within(1, types.indexOf("task_started"));
  });

  it("state the reservation before a call and the usage after it", async () => {
    const ended = await runToEnd({
      model: spending(),
      tasks: tasks(2),
      workflow: "SEQUENTIAL",
      plugins: [stepping(250), budget({ maxTokens: 50_000 })],
    });
    const states = changed(ended);
    expect(states.map(({ used }) => used.tokens)).to.deep.equal([0, 10, 10, 20]);
    expect(states.map(({ reserved }) => reserved.tokens > 0)).to.deep.equal([
      true,
      false,
      true,
      false,
    ]);
    expect(states.every(({ limits }) => limits.maxTokens === 50_000)).to.equal(true);
  });

  it("are few for any number of calls, and the last event contains the final state", async () => {
    await Promise.resolve(); // mocha starts its own timer in the meantime
    const before = timers();
    const ended = await runToEnd({
      model: spending(),
      tasks: tasks(60),
      workflow: "SEQUENTIAL",
      plugins: [stepping(0), budget({ maxTokens: 900_000 })],
    });
    const states = changed(ended);
    expect(states.length).to.be.within(2, 60);
    expect(states.at(-1)).to.deep.include({
      used: { tokens: 600, durationMs: 0 },
      reserved: { tokens: 0 },
    });
    expect(timers()).to.equal(before);
  });

  it("are emitted by the run that has the budget, including those for calls of joined runs", async () => {
    const inner = new Ensemble({
      model: spending(),
      tasks: tasks(1),
      on: ({ type }) => void told.push(type),
    });
    const told: string[] = [];
    const ended = await runToEnd({
      tasks: [
        new Task({
          description: "outer",
          handler: async ({ run }) => (await inner.run({}, { parent: run })).raw,
        }),
      ],
      plugins: [budget({ maxTokens: 50_000 })],
    });
    await inner.dispose();
    expect(changed(ended).at(-1)?.used.tokens).to.equal(10);
    expect(told)
      .to.include("ensemble_completed")
      .and.not.include.oneOf(["budget_opened", "budget_changed"]);
  });
});
