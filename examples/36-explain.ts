// Examines a run before it causes cost: the plan, the exact first prompt and tools of every task,
// and an estimate of its tokens. With prices and limits, the result also contains the maximum cost.
// Nothing is called.
// Run it: npm run example -- 36
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";

const lookUp = tool({
  name: "look_up",
  description: "Looks a word up in the encyclopedia, for instance: otter",
  execute: (word) => `About ${word}: ...`,
});
const researcher = new Agent({
  role: "Researcher",
  goal: "Find facts",
  tools: [lookUp],
  maxIterations: 3,
  modelOptions: { maxOutputTokens: 400 },
});
const writer = new Agent({
  role: "Writer",
  goal: "Write plainly",
  modelOptions: { maxOutputTokens: 200 },
});
const research = new Task({
  name: "research",
  description: "Collect facts about the {animal}",
  agent: researcher,
});
const article = new Task({
  name: "article",
  description: "Write a paragraph about the {animal}",
  agent: writer,
  context: [research],
});

const options = {
  model: new ScriptedModel([]),
  tasks: [research, article],
  costConfiguration: { inputTokenRate: 0.15e-6, outputTokenRate: 0.6e-6 },
};
await using team = new Ensemble({ ...options, maxToolOutputLength: 2_000 });
const { workflow, tasks, estimatedInputTokens, costBound } = await team.explain({
  animal: "otter",
});

console.log(`${workflow}, about ${estimatedInputTokens} tokens to begin with\n`);
for (const task of tasks) {
  console.log(
    `== ${task.taskId}: ${task.agentRole} with ${task.model}, after: ${task.dependsOn.join(", ") || "nothing"}`,
  );
  console.log(
    `   tools: ${task.tools.join(", ") || "none"}; at most ${task.maxModelCalls} model calls`,
  );
  console.log(task.userPrompt.replace(/^/gm, "   | "));
}
console.log(`\nAt most ${costBound?.totalCost} ${costBound?.currency}`);

// Without a limit on tool outputs there is no upper bound, and the result states the reason.
await using unlimited = new Ensemble(options);
console.log((await unlimited.explain({ animal: "otter" })).unbounded.join("\n"));
