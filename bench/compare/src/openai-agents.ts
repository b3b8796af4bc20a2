import { Agent, run, setOpenAIAPI, setTracingDisabled, tool } from "@openai/agents";
import { CLERK, Item, letterAbout, MODEL, priceOf, QUESTION, Total, WRITER } from "./prices.js";

setOpenAIAPI("chat_completions");
setTracingDisabled(true); // otherwise the runs are sent to OpenAI
const lookUp = tool({
  name: "look_up_price",
  description: "The price of one item",
  parameters: Item,
  execute: async ({ item }) => priceOf(item),
});
const clerk = new Agent({
  name: "Clerk",
  instructions: CLERK,
  model: MODEL,
  tools: [lookUp],
  outputType: Total,
});
const writer = new Agent({ name: "Writer", instructions: WRITER, model: MODEL });
const total = await run(clerk, QUESTION);
if (total.finalOutput === undefined) throw new Error("no total");
const { euros } = total.finalOutput;
const letter = await run(writer, letterAbout(euros));
console.log(JSON.stringify({ euros, letter: letter.finalOutput }));
