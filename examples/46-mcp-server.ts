// Tools and tasks for any program with the Model Context Protocol. Here the server listens on this
// machine, and the client of the protocol calls it. An editor or a chat program would start a
// program that calls `server.stdio()` instead.
// Run it: npm run example -- 46
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Task, tool } from "agentensemble";
import { mcpServer } from "agentensemble/mcp";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

const { model, name, note } = realOrScripted(
  () => "Keep the ferry in sight and cross behind its stern.",
);
console.log(`Model: ${name} (${note})\n`);

const tides: Readonly<Record<string, string>> = { Husum: "14:40", Dover: "11:05" };
const highWater = tool({
  name: "high_water",
  description: "The next high water of a harbour",
  input: z.object({ harbour: z.string() }),
  execute: ({ harbour }) => {
    const at = tides[harbour];
    if (at === undefined) throw new Error(`There is no tide table for ${harbour}`);
    return { harbour, at };
  },
});
const advise = new Task({
  name: "advise",
  description: "Advise a {boat} that meets a ferry off {harbour}",
  expectedOutput: "One sentence",
});
const log = new Task({
  name: "log_entry",
  description: "Write down: {text}",
  handler: ({ inputs }) => `Logged: ${String(inputs["text"])}`,
});

await using server = mcpServer({
  name: "harbour-office",
  version: "1.2.0",
  model,
  tools: [highWater],
  tasks: [advise, log],
});
const { url } = await server.http({ token: "only-for-this-example" });

const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: "Bearer only-for-this-example" } },
  }),
);
console.log(`${client.getServerVersion()?.name ?? "?"} offers:`);
for (const { name: toolName, inputSchema } of (await client.listTools()).tools)
  console.log(`  ${toolName}(${Object.keys(inputSchema.properties ?? {}).join(", ")})`);

const tide = await client.callTool({ name: "high_water", arguments: { harbour: "Husum" } });
console.log("\nStructured:", tide.structuredContent);
const unknown = await client.callTool({ name: "high_water", arguments: { harbour: "Atlantis" } });
console.log("Failed:", unknown.isError, unknown.content[0]);
const advice = await client.callTool(
  { name: "advise", arguments: { boat: "dinghy", harbour: "Dover" } },
  { onprogress: ({ progress, message }) => console.log(`  step ${progress}: ${message ?? ""}`) },
);
console.log("Advice:", advice.content[0]);
console.log(
  (await client.callTool({ name: "log_entry", arguments: { text: "all well" } })).content[0],
);
await client.close();
