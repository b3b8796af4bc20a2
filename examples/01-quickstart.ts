// The smallest team: one task and one model. The agent is created from the task's description.
// Run it: npm run example -- 01
// It works without a key. With OPENAI_API_KEY, it calls OpenAI.
import { Ensemble, prompt, Task } from "agentensemble";
import { chooseModel } from "./support/model.js";

const text = `The common swift spends almost its whole life in the air. It eats, drinks and even sleeps while flying.
Swifts catch insects and drift with the weather to find them. They land only to breed, in holes and under roofs.
Renovated houses often have no such holes any more. Nesting boxes under the eaves are a simple replacement.`;

const { model, name, note } = chooseModel(3);
console.log(`Model: ${name} (${note})\n`);

const output = await Ensemble.run(
  model,
  Task.of(prompt`Name the three most important points of this text:\n---\n${text}\n---`),
);

console.log(output.raw);
console.log(
  `\n${output.exitReason}: ${output.metrics.totalTokens} tokens in ${Math.round(output.totalDurationMs)} ms`,
);
