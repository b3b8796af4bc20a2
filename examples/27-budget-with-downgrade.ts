// A run that may cost so much and no more. Calls go to the good model while that is paid for, then to the cheaper one, and when not even that
// fits the run stops and keeps what is finished. No call is made that could exceed the budget, in parallel neither. Run it: npm run example -- 27
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

/** Models that report what they used, as those of vendors do. */
const good = new ScriptedModel(
  () => ({ text: "A long and careful label.", usage: { inputTokens: 120, outputTokens: 180 } }),
  { modelId: "good" },
);
const cheap = new ScriptedModel(
  () => ({ text: "A label.", usage: { inputTokens: 120, outputTokens: 60 } }),
  { modelId: "cheap" },
);

// Only a function can price models differently; it gives dollars here.
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
await label(0.022); // the last ones get the cheaper one
await label(0.0096); // not enough for all, even so
