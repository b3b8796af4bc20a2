// A run with a budget. Calls use the good model while the budget allows this, then the cheaper
// model. If the budget is too small for the cheaper model, the run stops and keeps its finished
// outputs. No call is made that could exceed the budget, even in parallel.
// Run it: npm run example -- 27
import {
  Agent,
  BudgetExceededError,
  Ensemble,
  Task,
  type UsageRecord,
  prompt,
} from "agentensemble";
import { budget } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";

/** Models that report their usage, like the models of vendors. */
const good = new ScriptedModel(
  () => ({ text: "A long and careful label.", usage: { inputTokens: 120, outputTokens: 180 } }),
  { modelId: "good" },
);
const cheap = new ScriptedModel(
  () => ({ text: "A label.", usage: { inputTokens: 120, outputTokens: 60 } }),
  { modelId: "cheap" },
);

// Different prices for models require a function. Here it returns dollars.
const perToken: Readonly<Record<string, readonly [input: number, output: number]>> = {
  good: [0.00001, 0.00004],
  cheap: [0.000001, 0.000004],
};
const costConfiguration = ({
  modelId,
  inputTokens,
  outputTokens,
}: UsageRecord): number | undefined => {
  const rates = perToken[modelId];
  return rates && inputTokens * rates[0] + outputTokens * rates[1];
};

const writer = new Agent({
  role: "Writer",
  goal: "Labels that visitors read",
  modelOptions: { maxOutputTokens: 200 },
});
const rooms = ["clocks", "kites", "maps", "globes", "looms", "bells"];
const tasks = rooms.map(
  (room) =>
    new Task({
      name: room,
      description: prompt`Write the label of the room of ${room}.`,
      agent: writer,
    }),
);

async function label(maxCost: number): Promise<void> {
  console.log(`\nA budget of $${maxCost}`);
  await using team = new Ensemble({
    model: good,
    tasks,
    workflow: "PARALLEL",
    maxConcurrency: 2,
    costConfiguration,
    plugins: [budget({ maxCost, onExceeded: { downgradeTo: cheap } })],
    on: (e) => {
      if (e.type === "budget_exceeded")
        console.log(`  ${e.action} at ${e.taskId}: $${e.used.toFixed(4)} of $${e.allowed} used`);
    },
  });
  const output = await team.run({}, { throwOnError: false });
  for (const { modelId, taskId, cost = 0 } of output.metrics.ledger)
    console.log(`  ${taskId}: ${modelId}, $${cost.toFixed(4)}`);
  const { totalCost = 0 } = output.metrics.costEstimate ?? {};
  console.log(
    `  ${output.completedTasks.length} of ${rooms.length} labels for $${totalCost.toFixed(4)}`,
  );
  if (BudgetExceededError.isInstance(output.error)) console.log(`  ${output.error.message}`);
}

await label(0.1); // enough for the good model
await label(0.022); // the last calls use the cheaper model
await label(0.0096); // not enough for all calls
