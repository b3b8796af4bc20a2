// Two agents: a clerk that uses tools, and a writer that receives the clerk's result as context.
// Run it: npm run example -- 02
// Without a key, a scripted model calls the tools. The tools are real.
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

const prices = new Map([
  ["lamp", 89],
  ["table", 240.5],
]);

const lookUpPrice = tool({
  name: "look_up_price",
  description: "The price of one item in euros. Use it for every item before you calculate.",
  input: z.object({ item: z.string().describe("name of the item, in English and singular") }),
  execute: ({ item }) => {
    const price = prices.get(item.toLowerCase());
    if (price === undefined)
      throw new Error(`There is no '${item}'. Items: ${[...prices.keys()].join(", ")}`);
    return { item, price };
  },
});

const add = tool({
  name: "add",
  description: "Adds amounts in euros.",
  input: z.object({ amounts: z.array(z.number()) }),
  execute: ({ amounts }) => amounts.reduce((sum, amount) => sum + amount, 0).toFixed(2),
});

const clerk = new Agent({
  role: "Clerk",
  goal: "Calculate orders without a mistake",
  tools: [lookUpPrice, add],
  maxIterations: 10,
});
const writer = new Agent({ role: "Writer", goal: "Write short and friendly letters" });

const total = new Task({
  description: "What do two lamps and one table cost together?",
  expectedOutput: "The total in euros.",
  agent: clerk,
});
const letter = new Task({
  description: "Write one sentence that tells the customer the total.",
  agent: writer,
  context: [total],
});

const { model, name, note } = realOrScripted([
  {
    toolCalls: [
      { name: "look_up_price", arguments: { item: "lamp" } },
      { name: "look_up_price", arguments: { item: "table" } },
    ],
  },
  { toolCalls: [{ name: "add", arguments: { amounts: [89, 89, 240.5] } }] },
  "Together they cost 418.50 euros.",
  "Dear customer, your two lamps and the table come to 418.50 euros.",
]);
console.log(`Model: ${name} (${note})\n`);

const output = await new Ensemble({
  model,
  tasks: [total, letter],
  onToolCall: ({ agentRole, toolName, toolArguments, toolResult }) =>
    console.log(`${agentRole}: ${toolName} ${toolArguments} -> ${toolResult}`),
}).run();

console.log(`\nClerk:  ${output.getOutput(total)?.raw}`);
console.log(`Writer: ${output.getOutput(letter)?.raw}`);
console.log(`\n${output.totalToolCalls} tool calls, ${output.metrics.llmCallCount} model calls`);
