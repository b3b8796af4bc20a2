import { Agent, Ensemble, Task, tool } from "agentensemble";
import { CLERK, Item, MODEL, priceOf, QUESTION, Total, WRITER } from "./prices.js";

const lookUp = tool({
  name: "look_up_price",
  description: "The price of one item",
  input: Item,
  execute: ({ item }) => priceOf(item),
});
const total = new Task({
  description: QUESTION,
  agent: new Agent({ role: "Clerk", goal: CLERK, tools: [lookUp] }),
  outputType: Total,
});
const letter = new Task({
  description: "Write one sentence that tells the customer the total.",
  agent: new Agent({ role: "Writer", goal: WRITER }),
  context: [total],
});
await using team = new Ensemble({ model: `openai:${MODEL}`, tasks: [total, letter] });
const output = await team.run();
console.log(JSON.stringify({ euros: output.getOutput(total)?.parsed.euros, letter: output.raw }));
