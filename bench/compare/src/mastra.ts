import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { z } from "zod";
import { CLERK, Item, letterAbout, MODEL, priceOf, QUESTION, Total, WRITER } from "./prices.js";

const model = {
  id: `openai/${MODEL}`,
  url: process.env["OPENAI_BASE_URL"] ?? "https://api.openai.com/v1",
  apiKey: process.env["OPENAI_API_KEY"] ?? "",
} as const;
const lookUp = createTool({
  id: "look_up_price",
  description: "The price of one item",
  inputSchema: Item,
  execute: async ({ item }) => priceOf(item),
});
const clerk = new Agent({
  id: "clerk",
  name: "Clerk",
  instructions: CLERK,
  model,
  tools: { look_up_price: lookUp },
});
const writer = new Agent({ id: "writer", name: "Writer", instructions: WRITER, model });
const Question = z.object({ question: z.string() });
const Letter = z.object({ euros: z.number(), letter: z.string() });
const total = createStep({
  id: "total",
  inputSchema: Question,
  outputSchema: Total,
  execute: async ({ inputData }) =>
    (await clerk.generate(inputData.question, { structuredOutput: { schema: Total } })).object,
});
const write = createStep({
  id: "write",
  inputSchema: Total,
  outputSchema: Letter,
  execute: async ({ inputData: { euros } }) => ({
    euros,
    letter: (await writer.generate(letterAbout(euros))).text,
  }),
});
const workflow = createWorkflow({ id: "order", inputSchema: Question, outputSchema: Letter })
  .then(total)
  .then(write)
  .commit();
const run = await workflow.createRun();
const result = await run.start({ inputData: { question: QUESTION } });
if (result.status !== "success") throw new Error(result.status);
console.log(JSON.stringify(result.result));
