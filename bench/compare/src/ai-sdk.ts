import { openai } from "@ai-sdk/openai";
import { generateText, isStepCount, Output, tool } from "ai";
import { CLERK, Item, letterAbout, MODEL, priceOf, QUESTION, Total, WRITER } from "./prices.js";

const model = openai.chat(MODEL);
const lookUp = tool({
  description: "The price of one item",
  inputSchema: Item,
  execute: async ({ item }) => priceOf(item),
});
const { output } = await generateText({
  model,
  instructions: CLERK,
  prompt: QUESTION,
  tools: { look_up_price: lookUp },
  output: Output.object({ schema: Total }),
  stopWhen: isStepCount(10),
});
const { text } = await generateText({
  model,
  instructions: WRITER,
  prompt: letterAbout(output.euros),
});
console.log(JSON.stringify({ euros: output.euros, letter: text }));
