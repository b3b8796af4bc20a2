// A graph: a model reads the question and names a tool. The edges lead to the state of that tool.
// An answer that is too long is written again.
// Run it: npm run example -- 20
import { Agent, Ensemble, Graph, Task } from "agentensemble";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

const route = new Task({
  description:
    'Which tool does this question need, and with which input? "sum" adds numbers, "dictionary" explains a word.\n\n{question}',
  agent: new Agent({ role: "Router", goal: "Choose the right tool" }),
  outputType: z.object({ tool: z.enum(["sum", "dictionary", "none"]), input: z.array(z.string()) }),
});

// The tools are tasks with handlers. They read the router's choice from their context.
const sum = new Task({
  description: "Add the numbers",
  context: [route],
  handler: (ctx) =>
    ctx.getOutput(route).parsed.input.reduce((total, number) => total + Number(number), 0),
});
const words: Readonly<Record<string, string>> = {
  isthmus: "a narrow strip of land between two seas",
};
const dictionary = new Task({
  description: "Look the words up",
  context: [route],
  handler: (ctx) =>
    ctx
      .getOutput(route)
      .parsed.input.map((word) => `${word}: ${words[word] ?? "not in the dictionary"}`)
      .join("\n"),
});

const answer = new Task({
  description: "Answer the question in at most six words.\n\n{question}",
  agent: new Agent({ role: "Clerk", goal: "Answer shortly" }),
  context: [sum, dictionary], // receives the outputs of the visited states
});

const router = new Graph({
  name: "router",
  states: { route, sum, dictionary, answer },
  start: "route",
  edges: [
    {
      from: "route",
      to: "sum",
      when: (step) => step.getOutput(route)?.parsed.tool === "sum",
      label: "numbers",
    },
    {
      from: "route",
      to: "dictionary",
      when: (step) => step.getOutput(route)?.parsed.tool === "dictionary",
      label: "words",
    },
    { from: "route", to: "answer" },
    { from: "sum", to: "answer" },
    { from: "dictionary", to: "answer" },
    {
      from: "answer",
      to: Graph.END,
      when: (step) => step.lastOutput.raw.split(" ").length <= 6,
      label: "short enough",
    },
    { from: "answer", to: "answer" },
  ],
  maxSteps: 8,
});

// The first answer of the scripted clerk is too long, unless there is no result.
const { model, name, note } = realOrScripted(({ messages }) => {
  const prompt = JSON.stringify(messages);
  if (/You are Router/.test(prompt)) {
    if (prompt.includes("together")) return '{"tool": "sum", "input": ["12", "30"]}';
    return prompt.includes("isthmus")
      ? '{"tool": "dictionary", "input": ["isthmus"]}'
      : '{"tool": "none", "input": []}';
  }
  const again = prompt.includes("visit #2");
  if (prompt.includes("42"))
    return again ? "They have 42 apples." : "If one adds them up they have 42 apples.";
  return prompt.includes("narrow strip") ? "A land bridge between seas." : "I do not know.";
});
console.log(`Model: ${name} (${note})\n`);

const team = new Ensemble({ model, graph: router });
const questions = [
  "Ann has 12 apples and Bob has 30. How many have they together?",
  "What is an isthmus?",
  "Who is at the door?",
];
for (const question of questions) {
  const { graph, raw } = await team.run({ question });
  console.log(
    `${question}\n  ${graph?.steps.map(({ stateName }) => stateName).join(" > ")}\n  ${raw}`,
  );
}
await team.dispose();
