// Evaluates a team with a journal, over a vendor at the URL of its first argument. Prints the
// number of finished trials.
import { Ensemble, openai, Task } from "agentensemble";
import { durable } from "agentensemble/durability";
import { evaluate, exact } from "agentensemble/evals";

const [, , url = "", folder = "", cases = "1", trials = "1"] = process.argv;
const target = new Ensemble({
  model: openai("gpt-4o-mini", { apiKey: "sk-test", baseURL: url }),
  tasks: [Task.of("Say {n}")],
  plugins: [durable({ url: `file:${folder}`, leaseMs: 1_000 })],
});
const result = await evaluate({
  name: "interrupted",
  target,
  dataset: Array.from({ length: Number(cases) }, (_, n) => ({ input: { n }, expected: "x" })),
  scorers: [exact()],
  trials: Number(trials),
  onProgress: ({ done }) => {
    console.log(`done ${done}`);
  },
});
await target.dispose();
console.log(`end ${result.scores[0]?.scores} ${result.problemCount}`);
