// The built-in budget and that of another package, on the same runs.
import type { EnsembleOptions, UsageRecord } from "agentensemble";
import { Agent, definePlugin, Ensemble, Task, Tokens, ValidationError } from "agentensemble";
import { budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { runBudget, type RunBudgetOptions } from "./budget.js";
import { ended, expectSameEnd, type Case } from "./same-end.js";

const agent = new Agent({ role: "Clerk", goal: "Write" });
const say = (name: string): Task => new Task({ name, description: name, agent });
const EXCEEDED = ["AE_BUDGET_EXCEEDED"];

/** Every text counts as 16 tokens: a call reserves 40 for its two messages. */
const counting = definePlugin({
  name: "counting",
  bind: (bind) => void bind.single(Tokens.TokenCounter).toConstantValue({ count: () => 16 }),
});

/** Answers with its name; each call uses 60 tokens and `outputTokens`. */
function model(modelId = "dear", outputTokens = 250): ScriptedModel {
  const usage = { inputTokens: 60, outputTokens };
  return new ScriptedModel([{ text: modelId, usage }], { modelId, onExhausted: "repeat-last" });
}
const cheap = model("cheap");
const prices = ({ modelId, inputTokens, outputTokens }: UsageRecord): number =>
  (inputTokens + outputTokens) * (modelId === "cheap" ? 0.001 : 0.01);

const run =
  (count: number, more: EnsembleOptions = {}): Case["options"] =>
  () => ({
    model: model(),
    tasks: Array.from({ length: count }, (_, i) => say(`t${i + 1}`)),
    plugins: [counting],
    ...more,
  });

interface BudgetCase extends Case {
  readonly limits: Omit<RunBudgetOptions, "maxOutputTokensPerCall">;
}

const CASES: Readonly<Record<string, BudgetCase>> = {
  "sufficient tokens": {
    limits: { maxTokens: 1_000 },
    options: run(2),
    outputs: ["dear", "dear"],
  },
  "tokens that are used up": {
    limits: { maxTokens: 750 },
    options: run(3),
    codes: EXCEEDED,
    outputs: ["dear", "dear"],
  },
  "a call that is refused alone": {
    limits: { maxTokens: 750, onExceeded: "reject" },
    options: run(3),
    codes: ["AE_TASK_EXECUTION", ...EXCEEDED],
    outputs: ["dear", "dear"],
  },
  "concurrent calls that wait for the reservations of others": {
    limits: { maxTokens: 750 },
    options: run(3, { workflow: "PARALLEL", model: model("dear", 40) }),
    outputs: ["dear", "dear", "dear"],
  },
  "concurrent calls that together exceed the budget": {
    limits: { maxTokens: 750 },
    options: run(3, { workflow: "PARALLEL" }),
    codes: EXCEEDED,
    outputs: ["dear", "dear"],
  },
  "cost that is used up": {
    limits: { maxCost: 7.5 },
    options: run(3, { costConfiguration: prices }),
    codes: EXCEEDED,
    outputs: ["dear", "dear"],
  },
  "cost that is left for a cheaper model only": {
    limits: { maxCost: 7, onExceeded: { downgradeTo: cheap } },
    options: run(4, { costConfiguration: prices }),
    outputs: ["dear", "dear", "cheap", "cheap"],
  },
  "cost that is left for no model": {
    limits: { maxCost: 6.6, onExceeded: { downgradeTo: cheap } },
    options: run(4, { costConfiguration: prices }),
    codes: EXCEEDED,
    outputs: ["dear", "dear", "cheap"],
  },
};

describe("a budget of another package", () => {
  for (const [name, { limits, ...subject }] of Object.entries(CASES))
    it(`ends a run like the built-in budget: ${name}`, async () => {
      const options = { ...limits, maxOutputTokensPerCall: 250 };
      const plugins = [budget(options), runBudget(options)] as const;
      await expectSameEnd(subject, plugins, ["budget_exceeded"]);
    });

  it("applies to runs that join, in addition to their own budget", async () => {
    const options = { maxTokens: 750, maxOutputTokensPerCall: 250 };
    for (const make of [budget, runBudget]) {
      const inner = new Ensemble({
        model: model(),
        tasks: [say("Inside")],
        plugins: [make({ ...options, maxTokens: 500 }), counting],
      });
      const joins = new Task({
        description: "Joins",
        handler: async (ctx) => (await inner.run({}, { parent: ctx.run })).raw,
      });
      const { outputs, codes, events } = await ended(
        { options: run(0, { tasks: [say("First"), joins, say("Last")] }) },
        make(options),
      );
      await inner.dispose();
      expect(outputs).to.deep.equal(["dear", "dear"]);
      expect(codes).to.deep.equal(EXCEEDED);
      const exceeded = events.filter(({ type }) => type === "budget_exceeded");
      expect(exceeded).to.have.length(1);
      expect(exceeded[0]).to.include({ limit: "maxTokens", allowed: 750, used: 620 });
    }
  });

  it("requires prices for a limit of cost, and a usable fallback model", async () => {
    for (const make of [budget, runBudget]) {
      const unpriced = make({ maxCost: 1, maxOutputTokensPerCall: 250 });
      expect((await ended({ options: run(1) }, unpriced)).codes).to.deep.equal(["AE_VALIDATION"]);
      const noModel = { maxCost: 1, maxOutputTokensPerCall: 250, onExceeded: { downgradeTo: "x" } };
      expect(() => make(noModel)).to.throw(ValidationError, "downgradeTo must be a ChatModel");
    }
  });
});
