// A diamond: one source, two parallel readings of it, and one memo that waits for both. The order
// follows from `context` alone.
// Run it: npm run example -- 15
import { Agent, Ensemble, Task } from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

const source = new Task({
  name: "source",
  description: "Fetch the minutes of the meeting",
  handler: () =>
    [
      "The roof of the library leaks above the map room.",
      "The repair costs 14000 and takes three weeks.",
      "The map room must be closed while the roof is open.",
      "The old maps may be damaged if the repair waits for spring.",
    ].join(" "),
});

const reader = new Agent({ role: "Reader", goal: "Report what the minutes say, and nothing else" });
const costs = new Task({
  name: "costs",
  description: "What does the repair cost, and how long does it take?",
  agent: reader,
  context: [source],
});
const risks = new Task({
  name: "risks",
  description: "Which damage may happen if the repair waits?",
  agent: reader,
  context: [source],
});

const memo = new Task({
  name: "memo",
  description: "Write the memo",
  context: [costs, risks],
  handler: (ctx) => `MEMO\nCosts: ${ctx.getOutput(costs).raw}\nRisks: ${ctx.getOutput(risks).raw}`,
});

const { model, name, note } = realOrScripted(({ messages }) =>
  JSON.stringify(messages).includes("cost, and how long")
    ? "14000, in three weeks without the map room."
    : "The old maps may not outlast the winter.",
);
console.log(`Model: ${name} (${note})\n`);

const steps: string[] = [];
const team = new Ensemble({
  model,
  tasks: [source, costs, risks, memo],
  onTaskStart: ({ taskId }) => void steps.push(`start ${taskId}`),
  onTaskComplete: ({ taskId }) => void steps.push(`done ${taskId}`),
});
const output = await team.run();
await team.dispose();

// Both readings start when the source is done. The memo starts after both readings.
console.log(steps.join(", "));
console.log(`\n${output.raw}`);
console.log(`\nWorkflow: ${output.trace.workflow}`);
