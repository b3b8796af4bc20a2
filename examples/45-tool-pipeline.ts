// Several tools as one tool. The model makes one call, and each step passes its result to the next
// step. Each step is a separate call for hooks, limits and the trace.
// Run it: npm run example -- 45
import { Agent, definePlugin, Ensemble, reject, Task, tool } from "agentensemble";
import { calculatorTool, jsonParserTool, ToolPipeline } from "agentensemble/tools";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

/** Simulates a service that returns the stock of one item as JSON. */
const stock = tool({
  name: "stock",
  description: "The stock of an item, as JSON",
  input: z.object({ item: z.string().describe("name of the item, singular") }),
  execute: ({ item }) => ({ item, shelves: [{ boxes: 12, perBox: 24 }], price: "0.35" }),
});

const worth = new ToolPipeline({
  name: "stock_worth",
  description: "What all pieces of an item in stock are worth, in euros",
  steps: [
    // An object: the arguments of the next step.
    { tool: stock, adapter: ({ output }) => ({ jsonPath: "$", json: output }) },
    {
      tool: jsonParserTool(),
      adapter: ({ structured }) => {
        const { shelves, price } = z
          .object({
            shelves: z.array(z.object({ boxes: z.number(), perBox: z.number() })),
            price: z.string(),
          })
          .parse(structured);
        // A text, because the calculator accepts one text.
        return `(${shelves.map(({ boxes, perBox }) => `${boxes} * ${perBox}`).join(" + ")}) * ${price}`;
      },
    },
    { tool: calculatorTool() },
  ],
});

/** Policies check every step. */
const noNails = definePlugin({
  name: "no-nails",
  apply: ({ hooks }) =>
    hooks.beforeToolCall.tap({ name: "no-nails" }, ({ tool: called, input }) =>
      called.name === "stock" && JSON.stringify(input).includes("nail")
        ? reject("nails are not to be looked up")
        : undefined,
    ),
});

const { model, name, note } = realOrScripted([
  { toolCalls: [{ name: "stock_worth", arguments: { item: "screw" } }] },
  { toolCalls: [{ name: "stock_worth", arguments: { item: "nail" } }] },
  "The screws are worth 100.80 euros; I may not ask about the nails.",
]);
console.log(`Model: ${name} (${note})\n`);

const keeper = new Agent({
  role: "Storekeeper",
  goal: "Know what is in the store",
  tools: [worth],
});
await using team = new Ensemble({
  model,
  tasks: [new Task({ description: "What are our screws worth, and our nails?", agent: keeper })],
  plugins: [noNails],
  onToolCall: ({ toolName, toolResult }) => console.log(`${toolName}: ${toolResult}`),
});
const output = await team.run();
console.log(`\n${output.raw}`);

// A pipeline without adapters. The message of a failed step can also be passed on.
const lenient = new ToolPipeline({
  name: "lenient",
  description: "Computes, and says in capitals what came of it",
  errorStrategy: "CONTINUE_ON_FAILURE",
  steps: [
    { tool: calculatorTool() },
    {
      tool: tool({
        name: "capitals",
        description: "Capitals",
        execute: (text) => text.toUpperCase(),
      }),
    },
  ],
});
console.log(`\n${ToolPipeline.of(jsonParserTool(), calculatorTool()).description}`);
await using alone = new Ensemble({ tasks: [new Task({ description: "1 / 0", handler: lenient })] });
console.log((await alone.run()).raw);
