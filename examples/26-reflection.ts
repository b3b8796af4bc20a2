// Reflection: after each run, a model writes notes on the task. The next prompt of the task
// contains these notes. A file stores the notes under the name of the task or its description
// without input values.
// Run it: npm run example -- 26
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ensemble, ReflectionStore, Task } from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

const folder = await mkdtemp(join(tmpdir(), "reflection-"));
const reflectionStore = ReflectionStore.file(join(folder, "notes.json"));

const answer = `REFINED_DESCRIPTION: Describe the {animal} in one sentence that names a number
REFINED_EXPECTED_OUTPUT: One sentence
OBSERVATIONS:
- The text was long and named no number
SUGGESTIONS:
- Begin with what sets the animal apart`;
const { model, name } = realOrScripted((request) =>
  JSON.stringify(request.messages).includes("REFINED_DESCRIPTION") ? answer : "A short text.",
);
console.log(`Model: ${name}\n`);

const describe = new Task({
  name: "describe",
  description: "Describe the {animal}",
  reflect: true,
});
await using team = new Ensemble({
  model,
  tasks: [describe],
  reflectionStore,
  onTaskInput: ({ userPrompt }) =>
    console.log(
      userPrompt.includes("Improvement Notes")
        ? `With notes:\n${userPrompt}\n`
        : "Without notes.\n",
    ),
  onTaskReflected: ({ reflection }) =>
    console.log(`Reflection ${reflection.runCount}: ${reflection.suggestions.join("; ")}\n`),
});
for (const animal of ["otter", "owl"]) {
  const { raw, metrics } = await team.run({ animal });
  console.log(`${animal}: ${raw} (${metrics.ledger.map((call) => call.purpose).join(", ")})\n`);
}
await rm(folder, { recursive: true });
