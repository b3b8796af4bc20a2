// Chooses a model. The same team with three models is compared by score, by reliability over three
// trials, and by cost. The models are simulated.
// Run it: npm run example -- 81
import { Agent, Ensemble, Task, type ChatModel, type CostConfiguration } from "agentensemble";
import { evaluate, exact, type EvaluationResult } from "agentensemble/evals";
import { ScriptedModel } from "agentensemble/testing";

const dataset = Array.from({ length: 40 }, (_, i) => {
  const [a, b] = [17 + i, 200 - i];
  return { id: `${a} + ${b}`, input: { a, b }, expected: String(a + b) };
});

/** Adds the numbers of its request. Each `failsEvery`th sum is wrong. */
function standIn(modelId: string, failsEvery = Infinity): ChatModel {
  return new ScriptedModel(
    ({ messages }, call) => {
      const [, a, b] = /(\d+) plus (\d+)/.exec(JSON.stringify(messages)) ?? [];
      const sum = Number(a) + Number(b);
      const text = String((call + 1) % failsEvery === 0 ? sum + 10 : sum);
      return { text, usage: { inputTokens: 120, outputTokens: 4 } };
    },
    { modelId },
  );
}

interface Candidate {
  readonly model: ChatModel;
  readonly costConfiguration: CostConfiguration;
}
const candidates: readonly Candidate[] = [
  {
    model: standIn("large"),
    costConfiguration: { inputTokenRate: 2.5e-6, outputTokenRate: 10e-6 },
  },
  {
    model: standIn("small"),
    costConfiguration: { inputTokenRate: 0.15e-6, outputTokenRate: 0.6e-6 },
  },
  {
    model: standIn("tiny", 7),
    costConfiguration: { inputTokenRate: 0.05e-6, outputTokenRate: 0.2e-6 },
  },
];

const agent = new Agent({ role: "Accountant", goal: "Add numbers" });
let baseline: EvaluationResult | undefined;
for (const { model, costConfiguration } of candidates) {
  await using team = new Ensemble({
    model,
    costConfiguration,
    tasks: [new Task({ description: "How much is {a} plus {b}?", agent })],
  });
  const result = await evaluate({
    ...{ name: model.modelId, target: team, dataset, scorers: [exact()] },
    ...{ trials: 3, minDifference: 0.1, baseline }, // accepts a loss of 10 points
  });
  const [score] = result.scores;
  const figures = [
    `mean ${score?.mean?.toFixed(2)}`,
    `all of 3 trials pass in ${score?.passHatK[2]?.toFixed(2)}`,
    `cost $${result.spending.target.cost?.toFixed(4)}`,
  ];
  const verdict = result.comparison?.verdict ?? "the baseline";
  console.log(`${model.modelId}: ${figures.join(", ")}: ${verdict}`);
  baseline ??= result;
}
