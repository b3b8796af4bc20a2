import { END, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, providerStrategy, tool } from "langchain";
import { z } from "zod";
import { CLERK, Item, letterAbout, MODEL, priceOf, QUESTION, Total, WRITER } from "./prices.js";

const model = new ChatOpenAI({ model: MODEL });
const lookUp = tool(({ item }) => priceOf(item), {
  name: "look_up_price",
  description: "The price of one item",
  schema: Item,
});
const clerk = createAgent({
  model,
  tools: [lookUp],
  systemPrompt: CLERK,
  responseFormat: providerStrategy(Total),
});
const State = z.object({ euros: z.number().default(0), letter: z.string().default("") });
const graph = new StateGraph(State)
  .addNode("total", async () => {
    const { structuredResponse } = await clerk.invoke({
      messages: [{ role: "user", content: QUESTION }],
    });
    return { euros: structuredResponse.euros };
  })
  .addNode("write", async ({ euros }) => {
    const { text } = await model.invoke([
      { role: "system", content: WRITER },
      { role: "user", content: letterAbout(euros) },
    ]);
    return { letter: text };
  })
  .addEdge(START, "total")
  .addEdge("total", "write")
  .addEdge("write", END)
  .compile();
const { euros, letter } = await graph.invoke({});
console.log(JSON.stringify({ euros, letter }));
