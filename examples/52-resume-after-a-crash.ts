// A run outlives its process. The first process is killed during the run. The second
// process continues the run and repeats no finished call.
// Run it: npm run example -- 52
import { Agent, Ensemble, Task } from "agentensemble";
import { durable } from "agentensemble/durability";
import { crash, inProcesses } from "./support/processes.js";
import { realOrScripted } from "./support/scripted.js";

const writer = new Agent({ role: "Writer", goal: "Write short and clear texts" });
const outline = new Task({ name: "outline", description: "Outline a page on bees", agent: writer });
const draft = new Task({
  name: "draft",
  description: "Write the page",
  agent: writer,
  context: [outline],
});
const title = new Task({
  name: "title",
  description: "Find a title",
  agent: writer,
  context: [draft],
});

const { model } = realOrScripted(({ messages }) => {
  const prompt = JSON.stringify(messages);
  if (prompt.includes("Find a title")) return "A page on bees";
  return prompt.includes("Write the page") ? "Bees live in hives." : "1. Hives 2. Honey";
});

/** Starts or continues the run in this process. */
async function work(folder: string, isKilled: boolean): Promise<void> {
  await using ensemble = new Ensemble({
    model,
    tasks: [outline, draft, title],
    plugins: [durable({ url: `file:${folder}` })],
    on: (event) => {
      if (event.type === "run_resumed")
        console.log(`  resumed with ${event.finishedTasks} finished tasks`);
      if (event.type === "llm_iteration_completed") console.log(`  answer for '${event.taskId}'`);
      if (event.type === "task_started" && event.taskId === "title" && isKilled) crash();
    },
  });
  const output = await ensemble.run({}, { runId: "page-on-bees" });
  console.log(`  result: ${output.raw}, after ${output.metrics.llmCallCount} model calls in all`);
}

const [folder, word] = process.argv.slice(2);
if (folder === undefined) inProcesses(import.meta.url, ["killed", "resumed", "again"]);
else await work(folder, word === "killed");
