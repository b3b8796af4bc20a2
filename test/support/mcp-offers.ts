import { once } from "node:events";
import { z } from "zod";
import { Task, tool, ToolResult, type AnyTask, type AnyTool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { mcpServer, type McpServer, type McpServingOptions } from "agentensemble/mcp";

/** Reports the events of the tools: `started`, and `ended` with the reason of a cancelled call. */
type Note = (what: string) => void;

/** Tools of every kind for clients. */
function offeredTools(note: Note = () => undefined): readonly AnyTool[] {
  return [
    tool({
      name: "shout",
      description: "Repeats a text in capitals",
      execute: (text) => text.toUpperCase(),
    }),
    tool({
      name: "add",
      description: "Adds two numbers",
      input: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => ToolResult.success(`The sum is ${a + b}`, { sum: a + b }),
    }),
    tool({
      name: "locate",
      description: "Finds a city on the map",
      input: {
        type: "object",
        properties: { city: { type: "string", minLength: 2 }, zoom: { type: "integer" } },
        required: ["city"],
      },
      execute: ({ city }) => ({ city, at: [53, 10] }),
    }),
    tool({
      name: "break",
      description: "Throws",
      execute: () => {
        throw new Error("The file is locked, password=hunter22 at https://ann:s3cret@example.test");
      },
    }),
    tool({ name: "refuse", description: "Fails", execute: () => ToolResult.failure("Not today") }),
    tool({
      name: "wait",
      description: "Waits until it is ended",
      execute: async (text, { signal }) => {
        note(`started ${text}`);
        if (!signal.aborted) await once(signal, "abort");
        note(`ended ${text}`);
        return "ended";
      },
    }),
  ].map((t) => t as AnyTool); // of definite inputs, which their schemas check
}

const Weather = z.object({ place: z.string(), degrees: z.number() });

/** Tasks of every kind. Those of agents follow a script. */
function offeredTasks(): readonly AnyTask[] {
  const greet = new Task({
    name: "greet",
    description: "Greet {name}",
    handler: ({ inputs }) => `Hello, ${String(inputs["name"])}`,
  });
  return [
    greet,
    new Task({
      name: "weather report",
      description: "Report the weather in {place}",
      expectedOutput: "As seen from {tower}",
      outputType: Weather,
    }),
    new Task({
      name: "thank",
      description: "Thank for the greeting",
      context: [greet],
      handler: ({ contextOutputs }) => `Thanks for "${contextOutputs[0]?.raw ?? ""}"`,
    }),
  ];
}

/** A server with all of them. */
export function offeringServer(options: McpServingOptions = {}, note?: Note): McpServer {
  const model = new ScriptedModel(() => '{"place":"Husum","degrees":11}');
  return mcpServer({
    name: "offers",
    version: "2.3.4",
    instructions: "Ask nicely.",
    model,
    tools: offeredTools(note),
    tasks: offeredTasks(),
    ...options,
  });
}
