// Memory across runs. A file stores the results of a run, and the prompts of the next run contain
// them. A handler reads the same file.
// Run it: npm run example -- 23
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Ensemble, MemoryScope, MemoryStore, Task, prompt } from "agentensemble";
import { memoryTool } from "agentensemble/memory";
import { realOrScripted } from "./support/scripted.js";

const folder = await mkdtemp(join(tmpdir(), "memory-"));
const path = join(folder, "memory.jsonl");

// On the first day, the scripted analyst stores a fact with a tool. On the second day, its prompt
// contains the report of the first day.
const { model, name, note } = realOrScripted(({ messages }) => {
  const prompt = JSON.stringify(messages);
  if (!prompt.includes("day: Tuesday")) {
    const told = messages.some(({ role }) => role === "tool");
    return told
      ? "Monday: 12 letters, most of them about late parcels."
      : {
          toolCalls: [{ name: "storeMemory", arguments: { key: "courier", value: "Swift & Co" } }],
        };
  }
  return prompt.includes("12 letters")
    ? "Tuesday: 7 letters, five fewer than on Monday."
    : "Tuesday: 7 letters.";
});
console.log(`Model: ${name} (${note})\n`);

/** One working day. A separate process would work in the same way. */
async function workOn(day: string): Promise<void> {
  const store = MemoryStore.file(path);
  const analyst = new Agent({
    role: "Analyst",
    goal: "Report on letters of complaint",
    tools: [memoryTool("couriers", store)],
  });
  const report = new Task({
    description: prompt`Report on the letters of this day: ${day}`,
    agent: analyst,
    memory: MemoryScope.of("reports").keepLastEntries(30),
  });
  const count = new Task({
    description: "Count what is known",
    handler: async ({ memory }) => {
      const couriers = await memory.retrieve("couriers", "Which courier?");
      return `${couriers.length} fact(s) about couriers: ${couriers.map(({ content }) => content).join("; ")}`;
    },
  });
  await using team = new Ensemble({
    model,
    tasks: [report, count],
    workflow: "SEQUENTIAL",
    memoryStore: store,
    onTaskInput: ({ userPrompt }) =>
      console.log(`${userPrompt.split("## Task")[0]?.trim() || "(nothing remembered)"}\n`),
  });
  const output = await team.run();
  const { scopeReads, scopeWrites } = output.metrics.memoryOperations;
  console.log(
    `${output.getOutput(report)?.raw}\n${output.getOutput(count)?.raw}\nReads: ${scopeReads}, writes: ${scopeWrites}\n`,
  );
  await store.close?.();
}

for (const day of ["Monday", "Tuesday"]) {
  console.log(`--- ${day} ---`);
  await workOn(day);
}
await rm(folder, { recursive: true });
