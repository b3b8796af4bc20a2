// The cost of a run by agent, by task with all its delegations, and by purpose. The report includes
// failed attempts.
// Run it: npm run example -- 31
import { Agent, Ensemble, ModelCallError, Task, tool, type EnsembleOutput } from "agentensemble";
import { formatCost, usageReport, type UsageGrouping } from "agentensemble/observability";
import { retry } from "agentensemble/resilience";
import { realOrScripted } from "./support/scripted.js";

const overloaded = new ModelCallError("overloaded", {
  provider: "scripted",
  modelId: "scripted",
  retryable: true,
});
const distance = tool({
  name: "distance",
  description: "Gives the kilometres between two places",
  execute: () => "84 km",
});
let failures = 1;

// The scripted planner delegates, and its scout measures. The first call of the scout fails.
const { model, name, note } = realOrScripted(({ messages }) => {
  const [system] = messages;
  const answered = messages.some(({ role }) => role === "tool");
  if (system?.role === "system" && system.content.startsWith("You are Scout")) {
    if (failures-- > 0) return overloaded;
    if (!answered)
      return {
        toolCalls: [{ name: "distance", arguments: { input: "Bremen, Emden" } }],
        usage: { inputTokens: 900, outputTokens: 30 },
      };
    return { text: "84 km, so five hours.", usage: { inputTokens: 1_000, outputTokens: 20 } };
  }
  if (answered)
    return {
      text: "Start at eight, arrive at one.",
      usage: { inputTokens: 2_500, outputTokens: 60 },
    };
  const delegation = {
    name: "delegate",
    arguments: { agentRole: "Scout", taskDescription: "How long is the way?" },
  };
  return {
    toolCalls: [delegation],
    usage: { inputTokens: 2_000, outputTokens: 40, cachedInputTokens: 1_500 },
  };
});
console.log(`Model: ${name} (${note})\n`);

await using tour = new Ensemble({
  model,
  agents: [new Agent({ role: "Scout", goal: "Measure ways", tools: [distance] })],
  tasks: [
    new Task({
      name: "plan",
      description: "Plan the tour",
      agent: new Agent({ role: "Planner", goal: "Plan", allowDelegation: true }),
    }),
  ],
  plugins: [retry({ maxAttempts: 2, baseDelayMs: 10 })],
  // Prices per token: 0.15 per million is 0.15e-6. For several models, pass a function of the usage
  // record.
  costConfiguration: {
    inputTokenRate: 0.15e-6,
    outputTokenRate: 0.6e-6,
    cachedInputTokenRate: 0.075e-6,
  },
});

function report(output: EnsembleOutput, by: UsageGrouping): void {
  console.log(`By ${by}`);
  for (const row of usageReport(output, { by })) {
    console.log(
      `  ${row.key}: ${row.calls} calls, ${row.totalTokens} tokens, ${formatCost(row.cost)}`,
    );
  }
}

const output = await tour.run({}, { tags: { customer: "acme" } });
console.log(`${output.raw}\n`);
for (const by of ["agent", "task", "task-tree", "purpose", "tag:customer"] as const)
  report(output, by);

// The failed attempt reported no tokens, so its price is unknown. The estimate therefore contains
// "at least".
console.log(`\nThe whole run: ${formatCost(output.metrics.costEstimate)}`);
for (const { toolName, calls, failures: failed } of output.metrics.tools)
  console.log(`Tool ${toolName}: ${calls} calls, ${failed} failed`);
