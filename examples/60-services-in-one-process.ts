// Two ensembles in one process. A kitchen shares a task and a tool, and the agent of room service
// uses both as tools. A folder stores the requests, so they would outlive the process.
// Run it: npm run example -- 60
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { network, NetworkBackend, NetworkTask, NetworkTools } from "agentensemble/network";
import { ScriptedModel } from "agentensemble/testing";
import { realOrScripted } from "./support/scripted.js";

const backend = NetworkBackend.file(join(await mkdtemp(join(tmpdir(), "kitchen-")), "network"));

// The service. Its cook has its own model.
const usage = { inputTokens: 1_000, outputTokens: 40 };
const kitchen = new Ensemble({
  name: "kitchen",
  model: new ScriptedModel([{ text: "Club sandwich, cut in four. Ready in 8 minutes.", usage }]),
  shareTasks: {
    "prepare-meal": {
      task: new Task({
        description: "Prepare this meal: {context}",
        agent: new Agent({ role: "Cook", goal: "Prepare meals" }),
      }),
      description: "Prepares a meal and returns when it is ready",
    },
  },
  shareTools: {
    "check-inventory": {
      tool: tool({
        name: "check_inventory",
        description: "Returns how many of an item are in stock",
        input: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
        execute: ({ item }) => `12 of ${String(item)}`,
      }),
      tags: ["stock"],
    },
  },
});
await using service = await kitchen.start({ backend, signals: false });

// The caller. The shared task and tool are tools of its agent.
const { model, name, note } = realOrScripted([
  { toolCalls: [{ name: "kitchen__check-inventory", arguments: { item: "bread" } }] },
  { toolCalls: [{ name: "kitchen__prepare-meal", arguments: { context: "a club sandwich" } }] },
  { text: "Your club sandwich is on its way to room 403.", usage: { inputTokens: 30, outputTokens: 10 } }, // prettier-ignore
]);
console.log(`Model: ${name} (${note})\n`);
await using roomService = new Ensemble({
  model,
  plugins: [network({ name: "room-service", backend })],
  tasks: [
    new Task({
      description: "The guest in room {room} wants a club sandwich. Check the bread first.",
      agent: new Agent({
        role: "Waiter",
        goal: "Serve guests",
        tools: [
          NetworkTask.from("kitchen", "prepare-meal", { budget: { maxTokens: 20_000 } }),
          NetworkTools.tagged("stock"),
        ],
      }),
    }),
  ],
  onToolCall: ({ toolName, toolResult }) => console.log(`  ${toolName}: ${toolResult}`),
});
const output = await roomService.run({ room: 403 });
console.log(output.raw);

// The totals of the run include the kitchen's usage.
const remote = output.metrics.ledger.filter(({ purpose }) => purpose === "remote");
for (const { source, inputTokens, outputTokens } of remote)
  console.log(`used by ${source ?? "?"}: ${inputTokens} + ${outputTokens} tokens`);

// A request without an agent, with a key. The second request receives the result of the first.
const { network: calls } = network({ name: "shop", backend });
for (let n = 0; n < 2; n++) {
  const content = { inputs: { item: "eggs" }, requestId: "order-4711" };
  const { result, attempt } = await calls.request("kitchen", "check-inventory", content);
  console.log(`order-4711: ${result ?? ""} (attempt ${attempt ?? 0})`);
}
await service.stop();
await kitchen.dispose();
await backend.close();
