// Answers from the files of a folder. The files are read, split into passages and stored in a
// memory that searches by meaning. A question costs one model call with the matching passages. A
// question without matches costs nothing.
// Run it: npm run example -- 90 [folder] [question]
import { fileURLToPath } from "node:url";
import { Agent, Ensemble, MemoryStore, Task } from "agentensemble";
import { hashedBagOfWords } from "agentensemble/memory";
import { loadFolder, passagesOf } from "./support/folder-documents.js";
import { chooseModel } from "./support/model.js";

const {
  2: folder = fileURLToPath(new URL("../../examples/data", import.meta.url)),
  3: asked = "Why does a tool loop need a limit?",
} = process.argv;
const { documents, skipped } = await loadFolder(folder);
const passages = documents.flatMap((document) => passagesOf(document));
console.log(`${documents.length} files, ${passages.length} passages`);
for (const { path, reason } of skipped) console.log(`skipped ${path}: ${reason}`);

// The words of a heading count as words of its passages.
const memory = MemoryStore.embeddings(hashedBagOfWords(), undefined, { minScore: 0.3 });
for (const { path, headings, text } of passages) {
  const content = `${[path, ...headings].join(" > ")}\n${text}`;
  await memory.store("folder", { content, storedAt: new Date() });
}

const find = new Task({
  name: "find",
  description: "Find what the folder has on this",
  handler: async ({ inputs }) => {
    const found = await memory.retrieve("folder", String(inputs["question"]), 3);
    if (found.length === 0) throw new Error("No passage of the folder is about this");
    return found.map(({ content }) => content).join("\n\n");
  },
});
const answer = new Task({
  name: "answer",
  description:
    "Answer this question from the passages alone, and name the file of each statement: {question}",
  agent: new Agent({
    role: "Librarian",
    goal: "Answer from the given passages, and only from them",
  }),
  context: [find],
});

const { model, name, note } = chooseModel(2);
console.log(`Model: ${name} (${note})`);
await using library = new Ensemble({ name: "library", model, tasks: [find, answer] });

for (const question of [asked, "Who won the chess championship?"]) {
  console.log(`\n> ${question}`);
  const output = await library.run({ question }, { throwOnError: false });
  const from = output.getOutput(find)?.raw.match(/^\S+\.\w+(?= > |$)/gm) ?? [];
  console.log(output.getOutput(answer)?.raw ?? "Nothing found.");
  console.log(
    `(${output.metrics.llmCallCount} model calls; from: ${[...new Set(from)].join(", ")})`,
  );
}
