// Phases: two parallel phases, then a memo. A review task judges the memo's phase and repeats the
// phase until the memo is accepted.
// Run it: npm run example -- 18
import { Agent, Ensemble, Phase, PhaseReview, Task } from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

const analyst = new Agent({
  role: "Analyst",
  goal: "Say in one sentence what can be said for sure",
});
const size = new Task({
  name: "size",
  description: "How many people would use a bicycle path along the river?",
  agent: analyst,
});
const ground = new Task({
  name: "ground",
  description: "Is the ground along the river firm enough for a path?",
  agent: analyst,
});

const memo = new Task({
  name: "memo",
  description: "Recommend in two sentences whether to build the path.",
  agent: new Agent({ role: "Author", goal: "Write so that the council can decide" }),
  context: [size, ground], // tasks of earlier phases
});
const judge = new Task({
  description:
    "Read the memo. Answer APPROVE when it names a cost, else RETRY: and what is missing.",
  agent: new Agent({ role: "Reviewer", goal: "Let nothing vague through" }),
});

const demand = Phase.of("demand", size);
const site = Phase.of("site", ground);
const recommendation = new Phase({
  name: "recommendation",
  tasks: [memo],
  after: [demand, site],
  review: new PhaseReview({ task: judge, maxRetries: 2 }),
});

// The scripted author corrects the memo if the prompt contains the reviewer's feedback. The
// scripted reviewer requires a number.
const { model, name, note } = realOrScripted(({ messages }) => {
  const prompt = JSON.stringify(messages);
  const role = /You are (\w+)/.exec(prompt)?.[1];
  if (role === "Analyst")
    return prompt.includes("firm enough")
      ? "The ground is firm except at the mill."
      : "About 900 people would use it on a working day.";
  if (role === "Reviewer")
    return prompt.includes("40,000") ? "APPROVE" : "RETRY: say what it costs";
  const cost = prompt.includes("say what it costs") ? " It costs 40,000." : "";
  return `Build the path, with a bridge at the mill.${cost}`;
});
console.log(`Model: ${name} (${note})\n`);

const team = new Ensemble({
  model,
  phases: [demand, site, recommendation],
  on: (e) => {
    if (e.type === "phase_started")
      console.log(`phase ${e.phaseName} begins (attempt ${e.attempt})`);
    if (e.type === "phase_completed")
      console.log(`phase ${e.phaseName} is done (attempt ${e.attempt})`);
    if (e.type === "task_completed" && e.agentRole === "Reviewer")
      console.log(`review: ${e.taskOutput.raw}`);
  },
});
const output = await team.run();
await team.dispose();

console.log(`\n${output.phaseOutputs.get("recommendation")?.at(-1)?.raw}`);
console.log(
  `\nPhases: ${[...output.phaseOutputs.keys()].join(", ")}; model calls: ${output.metrics.llmCallCount}`,
);
