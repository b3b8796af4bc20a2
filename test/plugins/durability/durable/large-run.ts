// A run with a journal of 1 GB. Arguments: its folder, and whether its last task fails.
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { Journal, durable } from "agentensemble/durability";
import { ScriptedModel } from "agentensemble/testing";

const [folder, end] = process.argv.slice(2);
const TASKS = 1_000;
const TEXT = "x".repeat(1 << 20);

let asked = 0;
const model = new ScriptedModel(({ messages }) => {
  asked++;
  return messages.at(-1)?.role === "tool"
    ? { text: "done" }
    : { toolCalls: [{ id: "t1", name: "look", arguments: { input: "it" } }] };
});
const look = tool({ name: "look", description: "Looks", effect: "read", execute: () => TEXT });
const tasks = Array.from(
  { length: TASKS },
  (_, n) =>
    new Task({
      name: `t${n}`,
      description: `Do ${n}`,
      agent: new Agent({ role: `a${n}`, goal: "Do it", tools: [look] }),
    }),
);
const last = new Task({
  name: "last",
  description: "End",
  handler: (): string => {
    if (end === "fails") throw new Error("not yet");
    return "ended";
  },
});
const journal = Journal.file(folder);
await using ensemble = new Ensemble({
  model,
  tasks: [...tasks, last],
  captureMode: "OFF",
  on: () => undefined,
  plugins: [durable({ journal })],
});
const { exitReason } = await ensemble.run({}, { runId: "r", throwOnError: false });
const listed = (await journal.list()).runs.map(({ finishedTasks }) => finishedTasks);
await journal.close();
process.stdout.write(JSON.stringify({ exitReason, asked, listed }));
