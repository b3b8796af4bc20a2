import { join } from "node:path";
import type { ChatModel, EnsembleOptions } from "agentensemble";
import {
  Agent,
  Ensemble,
  ModelCallError,
  Phase,
  PhaseReview,
  RateLimit,
  Task,
  Tokens,
  ValidationError,
} from "agentensemble";
import { anthropic } from "agentensemble/providers/anthropic";
import { openai } from "agentensemble/providers/openai";
import { recordTo, replayFrom } from "agentensemble/replay";
import { budget, fallback, rateLimited } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { setEnvironment } from "../support/environment.js";
import { rejectionOf } from "../support/rejection.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const KEYLESS = "openai:gpt-5-mini";
const MISSING = "No API key for openai:gpt-5-mini: OPENAI_API_KEY is not set";

/** A paid task before the task whose model can't be called. */
function paidBy(model: ChatModel): Task {
  return new Task({ description: "Paid", expectedOutput: "x", model });
}

function worker(role: string, model?: ChatModel | string): Agent {
  return new Agent({ role, goal: "work", model });
}

/** The error of a run that must have called no model. */
async function refusal(
  options: (paid: ScriptedModel) => EnsembleOptions,
): Promise<ValidationError> {
  const paid = new ScriptedModel(["done"], { onExhausted: "repeat-last" });
  await using ensemble = new Ensemble(options(paid));
  const error = await rejectionOf(ValidationError, ensemble.run());
  expect(paid.requests).to.deep.equal([]);
  return error;
}

describe("models that can't be called", () => {
  beforeEach(() =>
    setEnvironment({
      OPENAI_API_KEY: undefined,
      OPENAI_BASE_URL: undefined,
      ANTHROPIC_API_KEY: undefined,
      ANTHROPIC_BASE_URL: undefined,
    }),
  );

  const keyless = new Task({ name: "second", description: "Later", model: KEYLESS });
  const cases: readonly (readonly [string, string, (paid: ScriptedModel) => EnsembleOptions])[] = [
    ["of a task", "Task 'second'", (paid) => ({ tasks: [paidBy(paid), keyless] })],
    [
      "of a task's agent",
      "Task 'Later'",
      (model) => ({
        model,
        tasks: [
          paidBy(model),
          new Task({ description: "Later", agent: worker("Writer", KEYLESS) }),
        ],
      }),
    ],
    [
      "of an agent without a task",
      "Agent 'Writer'",
      (model) => ({ model, tasks: [paidBy(model)], agents: [worker("Writer", KEYLESS)] }),
    ],
    [
      "of the manager",
      "The manager",
      (model) => ({
        workflow: "HIERARCHICAL",
        managerModel: KEYLESS,
        model,
        agents: [worker("Writer")],
        tasks: [paidBy(model)],
      }),
    ],
    [
      "of a phase's review",
      "Task 'Judge it'",
      (model) => ({
        model,
        phases: [
          new Phase({
            name: "draft",
            tasks: [paidBy(model)],
            review: new PhaseReview({
              task: new Task({ description: "Judge it", model: KEYLESS }),
            }),
          }),
        ],
      }),
    ],
    [
      "of a reflection",
      "The reflection of task 'Paid'",
      (model) => ({
        model,
        tasks: [new Task({ description: "Paid", reflect: { model: KEYLESS } })],
      }),
    ],
    [
      "of a fallback",
      "fallback()",
      (model) => ({ model, tasks: [paidBy(model)], plugins: [fallback([KEYLESS])] }),
    ],
    [
      "that a budget downgrades to",
      "budget downgradeTo",
      (model) => ({
        model,
        tasks: [paidBy(model)],
        costConfiguration: () => 0,
        plugins: [budget({ maxCost: 1, onExceeded: { downgradeTo: KEYLESS } })],
      }),
    ],
    [
      "under a rate limit",
      "Task 'Later'",
      (model) => ({
        tasks: [
          paidBy(model),
          new Task({
            description: "Later",
            model: rateLimited(openai("gpt-5-mini"), RateLimit.perMinute(5)),
          }),
        ],
      }),
    ],
  ];
  for (const [place, who, options] of cases)
    it(`stop the run before any cost arises: the model ${place}`, async () => {
      const error = await refusal(options);
      expect(error.message).to.equal(`${who} has no usable model: ${MISSING}`);
      expect(error.hint).to.contain("OPENAI_API_KEY");
      expect(error.cause).to.be.instanceOf(ModelCallError);
    });

  it("stop the run for a key that a header can't contain, and for an invalid URL", async () => {
    setEnvironment({ ANTHROPIC_API_KEY: "a b", OPENAI_API_KEY: "k", OPENAI_BASE_URL: "nowhere" });
    const messages = [anthropic("m"), openai("m")].map((model) => {
      try {
        model.check?.();
        return "";
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(messages[0]).to.match(/^ANTHROPIC_API_KEY must consist of/);
    expect(messages[1]).to.match(/^OPENAI_BASE_URL must be an absolute URL/);
  });

  it("are not resolved by explain(), nor by a run that binds another model", async () => {
    await using ensemble = new Ensemble({ tasks: [keyless] });
    expect((await ensemble.explain()).tasks[0]?.model).to.equal(KEYLESS);
    const model = new ScriptedModel(["said"]);
    const bindings = { bindings: bindModel(model) };
    expect((await ensemble.run({}, bindings)).raw).to.equal("said");
  });

  it("are checked once each, also if several tasks call them", async () => {
    let checks = 0;
    const model = Object.assign(new ScriptedModel(["a", "b"]), { check: () => void checks++ });
    await Ensemble.run(model, paidBy(model), new Task({ description: "Again" }));
    expect(checks).to.equal(1);
  });

  it("are ignored in a replay", async () => {
    const file = join(temporaryFolder(), "r.jsonl");
    const task = (model: ChatModel): Task => new Task({ name: "t", description: "D", model });
    const spoken = new ScriptedModel(["said"], { provider: "openai", modelId: "gpt-5-mini" });
    await runOnce({ tasks: [task(spoken)], plugins: [recordTo(file)] });
    const replayed = { tasks: [task(openai("gpt-5-mini"))], plugins: [replayFrom(file)] };
    expect(await runOnce(replayed)).to.equal("said");
  });
});

async function runOnce(options: EnsembleOptions): Promise<string> {
  await using ensemble = new Ensemble(options);
  return (await ensemble.run()).raw;
}

function bindModel(model: ChatModel): NonNullable<Parameters<Ensemble["run"]>[1]>["bindings"] {
  return (bind) => void bind.single(Tokens.ChatModel).toConstantValue(model);
}
