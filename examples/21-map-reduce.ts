// Map-reduce: notes on every document of a folder, then notes on the notes, in a tree. The first
// run has chunks of a fixed size. The second run has a token budget that determines the number of
// levels during the run.
// Run it: npm run example -- 21
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  Agent,
  MapReduceEnsemble,
  Task,
  type AnyTask,
  type EnsembleOutput,
  prompt,
} from "agentensemble";
import { z } from "zod";
import { chooseModel } from "./support/model.js";

const folder = "examples/data";
const names = (await readdir(folder)).sort();
const documents = await Promise.all(
  names.map(async (name) => ({ name, text: await readFile(join(folder, name), "utf8") })),
);

const { model, name, note } = chooseModel(3);
console.log(`Model: ${name} (${note})\n`);

const reader = new Agent({ role: "Reader", goal: "Note what a text says, and nothing else" });
const editor = (): Agent =>
  new Agent({ role: "Editor", goal: "Bring notes together without losing the main points" });
const Digest = z.object({
  headline: z.string().describe("one sentence"),
  points: z.array(z.string()).max(5),
});
type Document = (typeof documents)[number];

// A document is data, so a {word} in the document stays unchanged.
const readTask = ({ name, text }: Document): Task =>
  new Task({
    name,
    description: prompt`Take notes on this document:\n---\n${text}\n---`,
    agent: reader,
  });
const mergeTask = (tasks: readonly AnyTask[], agent?: Agent): Task<z.infer<typeof Digest>> =>
  new Task({ description: "Merge these notes", agent, context: tasks, outputType: Digest });

function show(title: string, { trace, metrics }: EnsembleOutput): void {
  const levels = (trace.mapReduceLevels ?? []).map(({ taskCount }) => taskCount);
  console.log(
    `${title}: tasks per level ${levels.join(", ")}; ${metrics.llmCallCount} model calls`,
  );
}

const options = {
  model,
  items: documents,
  mapTask: readTask,
  reduceAgent: editor,
  reduceTask: mergeTask,
};

const inChunks = new MapReduceEnsemble({ ...options, chunkSize: 2 });
const chunked = await inChunks.run();
show("Chunks of two", chunked);
console.log(`  ${chunked.parsed.headline}`);
for (const point of chunked.parsed.points) console.log(`  - ${point}`);

// Adaptive: the inputs of one reduce task may have 400 tokens together.
const inBudget = new MapReduceEnsemble({ ...options, targetTokenBudget: 400 });
show("\nBudget of 400 tokens", await inBudget.run());

// If everything fits into one request, no map task is needed. The direct task receives all items.
const atOnce = new MapReduceEnsemble({
  ...options,
  contextWindowSize: 128_000,
  inputEstimator: ({ text }) => text,
  directAgent: editor,
  directTask: (all, agent) =>
    new Task({
      description: prompt`Digest:\n---\n${all.map(({ text }) => text).join("\n\n")}\n---`,
      agent,
      outputType: Digest,
    }),
});
show("\nWindow of 128,000 tokens", await atOnce.run());

console.log(
  `\nThe tree of the chunks, for a Mermaid viewer:\n${inChunks.toEnsemble().toMermaid().split("\n").slice(0, 4).join("\n")}\n  ...`,
);
await Promise.all([inChunks, inBudget, atOnce].map((mapReduce) => mapReduce.dispose()));
