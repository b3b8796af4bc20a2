// A test that runs a whole team without a model. The first run is recorded, and later runs replay
// the file. Then a prompt changes. The replay reports the difference, or continues live from there.
// Run it: npm run example -- 34
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { Agent, Ensemble, Task, tool, type Plugin } from "agentensemble";
import { RecordingMismatchError, recordTo, replayFrom } from "agentensemble/replay";
import { ScriptedModel } from "agentensemble/testing";
import { realOrScripted } from "./support/scripted.js";

let lookUps = 0;
const lookUp = tool({
  name: "look_up_stock",
  description: "Tells how many of an article are in stock",
  execute: (article) => {
    lookUps++;
    return `${article}: ${1_000 - lookUps} in stock`; // differs at each call
  },
});
const clerk = new Agent({ role: "Clerk", goal: "Answer from the stock list", tools: [lookUp] });

const { model, name, note } = realOrScripted(({ messages }) => {
  const last = messages.at(-1);
  if (last?.role === "tool") return `The list says: ${last.content}.`;
  return JSON.stringify(messages).includes("letter")
    ? "Dear customer, all is well."
    : { toolCalls: [{ name: "look_up_stock", arguments: { input: "lamps" } }] };
});
console.log(`Model: ${name} (${note})\n`);

const team = (plugin: Plugin, question = "How many lamps do we have?"): Ensemble => {
  const stock = new Task({ description: question, agent: clerk });
  return new Ensemble({
    model,
    tasks: [
      stock,
      new Task({ description: "Write a letter about it", agent: clerk, context: [stock] }),
    ],
    plugins: [plugin],
  });
};

/** Prints the title of a passed test. */
async function it(what: string, test: () => Promise<void>): Promise<void> {
  await test();
  console.log(`ok: ${what}`);
}

const folder = await mkdtemp(join(tmpdir(), "recordings-"));
const file = join(folder, "stock.jsonl");
await using recording = team(recordTo(file));
const recorded = await recording.run();
console.log(`Recorded: ${recorded.taskOutputs[0]?.raw} (${lookUps} look-up)\n`);

await it("gives the same answers again, without asking the model or the list", async () => {
  await using replay = team(replayFrom(file));
  const output = await replay.run();
  deepEqual(
    output.taskOutputs.map(({ raw }) => raw),
    recorded.taskOutputs.map(({ raw }) => raw),
  );
  equal(output.trace.ensembleId, recorded.trace.ensembleId);
  equal(output.metrics.totalTokens, recorded.metrics.totalTokens);
  equal(lookUps, 1);
});

await it("names what has changed", async () => {
  await using replay = team(replayFrom(file), "How many lamps and chairs do we have?");
  await rejects(replay.run(), (error) => {
    if (!(error instanceof RecordingMismatchError)) return false;
    console.log(`    ${error.message.replaceAll(folder, "recordings")}`);
    return true;
  });
});

await it("goes on live from the first change", async () => {
  await using replay = team(
    replayFrom(file, { onMiss: "live" }),
    "How many lamps and chairs do we have?",
  );
  const output = await replay.run();
  equal(output.exitReason, "COMPLETED");
  if (model instanceof ScriptedModel) console.log(`    look-ups now: ${lookUps}`);
});

await rm(folder, { recursive: true });
