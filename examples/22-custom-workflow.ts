// A custom workflow with an option, checks and an open end. Two speakers argue until a judge
// decides. The workflow is in support/deliberation.ts. `docs/write-your-own-workflow.md` explains
// it.
// Run it: npm run example -- 22
import { Agent, Ensemble, Task, ValidationError, prompt } from "agentensemble";
import { deliberation } from "./support/deliberation.js";
import { realOrScripted } from "./support/scripted.js";

const facts = new Task({
  name: "facts",
  description: "Look up the figures",
  handler: () => "The library has 40 visitors on a Sunday; opening costs 300.",
});
const speaker = (role: string, side: string): Task =>
  new Task({
    name: role.toLowerCase(),
    description: prompt`Argue ${side} opening the library on Sundays, in one sentence.`,
    agent: new Agent({ role, goal: "Convince the judge with honest arguments" }),
  });
const judge = new Task({
  name: "judge",
  description:
    "Shall the library open on Sundays? Say 'Verdict: ' and your decision, or, while you need to know more, 'Question: ' and one question to both sides.",
  agent: new Agent({ role: "Judge", goal: "Decide fairly, and only when it is clear" }),
});

// The scripted speakers and the judge read their prompt. A speaker that was asked a question
// answers it.
const { model, name, note } = realOrScripted(({ messages }) => {
  const prompt = JSON.stringify(messages);
  const role = /You are (\w+)/.exec(prompt)?.[1];
  const asked = prompt.includes("Question: who pays?");
  if (role === "Judge")
    return prompt.includes("The friends of the library pay")
      ? "Verdict: open on two Sundays a month."
      : "Question: who pays?";
  if (role === "Reader")
    return asked
      ? "The friends of the library pay for two Sundays a month."
      : "40 visitors have no other day to come.";
  return asked ? "The city does not, for no single Sunday." : "300 for 40 visitors is too much.";
});
console.log(`Model: ${name} (${note})\n`);

const output = await new Ensemble({
  model,
  tasks: [facts, speaker("Reader", "for"), speaker("Treasurer", "against"), judge],
  workflow: "DELIBERATION",
  plugins: [deliberation({ rounds: 3, isDecided: ({ raw }) => raw.startsWith("Verdict:") })],
  onTaskComplete: ({ agentRole, taskOutput }) => console.log(`${agentRole}: ${taskOutput.raw}`),
}).run();
console.log(
  `\n${output.raw} (rounds: ${output.trace.taskTraces.filter(({ taskId }) => taskId === "judge").length})`,
);

// A plan that the workflow does not support causes no cost, because `validate` refuses it before
// any task starts.
try {
  await new Ensemble({
    model,
    tasks: [facts, judge],
    workflow: "DELIBERATION",
    plugins: [deliberation({ isDecided: () => true })],
  }).run();
} catch (error) {
  if (!ValidationError.isInstance(error)) throw error;
  console.log(error.message);
}
