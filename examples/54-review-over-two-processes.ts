// A review that waits while no process runs. The first process ends while the review is pending.
// The second process decides the review, and the third process continues the run.
// Run it: npm run example -- 54
import { Agent, Ensemble, Review, ReviewDecision, RunSuspendedError, Task } from "agentensemble";
import { connectRuns, durable } from "agentensemble/durability";
import { inProcesses } from "./support/processes.js";
import { realOrScripted } from "./support/scripted.js";

const { model } = realOrScripted(({ messages }) =>
  JSON.stringify(messages).includes("Translate") ? "Miel à vendre" : "Honey for sale",
);
const writer = new Agent({ role: "Writer", goal: "Write short and clear texts" });
const slogan = new Task({
  name: "slogan",
  description: "Write a slogan for honey",
  agent: writer,
  review: Review.of({ prompt: "Print this?", timeoutMs: 0 }), // may take days
});
const french = new Task({
  name: "french",
  description: "Translate it into French",
  agent: writer,
  context: [slogan],
});

async function run(url: string): Promise<void> {
  await using ensemble = new Ensemble({
    model,
    tasks: [slogan, french],
    plugins: [durable({ url, suspendAfterMs: 0 })], // ends when the run waits only for people
    on: () => undefined,
  });
  try {
    const output = await ensemble.run({}, { runId: "slogan" });
    console.log(`  result: ${output.taskOutputs.map(({ raw }) => raw).join(" / ")}`);
  } catch (error) {
    if (!RunSuspendedError.isInstance(error)) throw error;
    console.log("  ends: the run waits for a person");
  }
}

async function answer(url: string): Promise<void> {
  await using runs = await connectRuns(url);
  for (const { reviewId, prompt = "", taskOutput } of await runs.reviews.pending()) {
    console.log(`  ${prompt} "${taskOutput}"`);
    const decision = ReviewDecision.edit("Fresh honey for sale", { by: "Ana" });
    const { outcome } = await runs.reviews.resolve(reviewId, decision);
    console.log(`  Ana's edit: ${outcome}`);
  }
}

const [folder, word] = process.argv.slice(2);
if (folder === undefined) inProcesses(import.meta.url, ["asks", "answers", "resumed"]);
else await (word === "answers" ? answer(`file:${folder}`) : run(`file:${folder}`));
