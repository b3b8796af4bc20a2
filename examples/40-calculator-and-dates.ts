// Built-in tools: an agent computes with numbers, dates and a JSON document instead of guessing.
// Run it: npm run example -- 40
// Without a key, a scripted model calls the tools. The tools are real.
import { Agent, AgentExecutionError, Ensemble, Task, prompt } from "agentensemble";
import { calculatorTool, dateTimeTool, jsonParserTool } from "agentensemble/tools";
import { realOrScripted } from "./support/scripted.js";

const invoice =
  '{ "number": 20260001234567890123, "issued": "2026-01-31", "lines": [{ "net": 89.90, "count": 3 }, { "net": 240.50, "count": 1 }] }';

const clerk = new Agent({
  role: "Clerk",
  goal: "State invoices without a mistake",
  tools: [calculatorTool(), dateTimeTool(), jsonParserTool()],
});
const task = new Task({
  description: prompt`When is this invoice due, a month after it was issued, and what is the total with 19 % tax?\n${invoice}`,
  agent: clerk,
});

const { model, name, note } = realOrScripted([
  {
    toolCalls: [
      { name: "json_parser", arguments: { jsonPath: "number", json: invoice } },
      { name: "json_parser", arguments: { jsonPath: "lines[0]", json: invoice } },
    ],
  },
  {
    toolCalls: [
      { name: "calculator", arguments: { input: "(89.90 * 3 + 240.50) * 1.19" } },
      { name: "datetime", arguments: { input: "2026-01-31 + 1 month" } },
      { name: "datetime", arguments: { input: "weekday 2026-02-28" } },
    ],
  },
  "Invoice 20260001234567890123 comes to 607.14 euros and is due on Saturday, 28 February 2026.",
]);
console.log(`Model: ${name} (${note})\n`);

await using team = new Ensemble({
  model,
  tasks: [task],
  onToolCall: ({ toolName, toolResult }) => console.log(`${toolName}: ${toolResult}`),
});
console.log(`\n${(await team.run()).raw}\n`);

// A tool can also execute a task without an agent.
const convert = new Task({
  description: "convert 2026-03-29T01:30:00 from Europe/Berlin to America/New_York",
  handler: dateTimeTool(),
});
await using clock = new Ensemble({ tasks: [convert] });
console.log((await clock.run()).raw);

// For an invalid input, the tool returns a failed result that names the position of the error. A
// model receives this result. A task whose handler is the tool fails with it.
await using sum = new Ensemble({
  tasks: [new Task({ description: "2 * (3 + 4", handler: calculatorTool() })],
});
const { error } = await sum.run({}, { throwOnError: false });
console.log(AgentExecutionError.find(error)?.message);
