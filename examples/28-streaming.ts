// Streams a run to the terminal: the tokens of a text as they arrive, and a structured answer while
// it grows. Tokens arrive before the output guardrails run. With `streaming: "guarded"`, they are
// held until the output is accepted.
// Run it: npm run example -- 28
import { Ensemble, Task } from "agentensemble";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

const Plan = z.object({
  title: z.string(),
  steps: z.array(z.object({ day: z.number(), what: z.string() })),
});
const plan = {
  title: "Two days in Ghent",
  steps: ["the belfry", "the canals by boat"].map((what, i) => ({ day: i + 1, what })),
};
const story = "The keeper lit the lamp. Far out, a ship turned its bow towards home.";
const pieces = (text: string): string[] => text.match(/.{1,6}/gs) ?? [];
const { model, name } = realOrScripted((request) => {
  const text = JSON.stringify(request.messages.at(-1)).includes("JSON")
    ? JSON.stringify(plan)
    : story;
  return { chunks: pieces(text) };
});
console.log(`Model: ${name}\n`);

const tasks = [
  Task.of("Tell a story of two sentences about {place}"),
  Task.of("Plan two days in Ghent", Plan),
];
await using team = new Ensemble({ model, tasks });
const handle = team.stream({ place: "a lighthouse" });
let shown = 0;
for await (const event of handle.events) {
  if (event.type === "token" && event.taskId === "task-1") process.stdout.write(event.token);
  if (event.type === "partial_output") {
    const { steps = [] } = event.partial as Partial<z.infer<typeof Plan>>;
    if (steps.length > shown) console.log(`day ${(shown = steps.length)} begins to be planned`);
  }
  if (event.type === "task_completed") console.log(`\n[${event.taskId} done]\n`);
}
console.log((await handle.output).exitReason);

// The tokens are held. The first answer is refused, so no part of it is shown.
const strict = new Task({
  description: "Say how many legs a spider has",
  guardrailRetries: 1,
  outputGuardrails: [
    ({ raw }) => (raw.includes("eight") ? true : { ok: false, reason: "Count again." }),
  ],
});
const answers = ["A spider has six legs.", "A spider has eight legs."];
const careful = realOrScripted((_, index) => ({ chunks: pieces(answers[index] ?? "") }));
await using guarded = new Ensemble({ model: careful.model, tasks: [strict], streaming: "guarded" });
for await (const event of guarded.stream().events)
  if (event.type === "token") process.stdout.write(event.token);
console.log();
