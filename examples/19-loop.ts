// A loop: a writer and a critic take turns until the critic accepts the draft. Each new draft
// receives the critic's last answer.
// Run it: npm run example -- 19
import { Agent, Ensemble, Loop, Task } from "agentensemble";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

const draft = new Task({
  name: "draft",
  description: "Write one sentence that invites children to the {event}.",
  agent: new Agent({ role: "Writer", goal: "Write lively sentences" }),
});
const critique = new Task({
  name: "critique",
  description: "Judge the invitation: a score from 0 to 10, and what to change.",
  agent: new Agent({ role: "Critic", goal: "Be strict and helpful" }),
  outputType: z.object({ score: z.number(), advice: z.string() }),
  context: [draft],
});

const polish = new Loop({
  name: "polish",
  tasks: [draft, critique],
  until: (iteration) => (iteration.getOutput(critique)?.parsed.score ?? 0) >= 8,
  maxIterations: 4,
});

// The scripted writer follows the last advice. The scripted critic requires a place and a verb.
const { model, name, note } = realOrScripted(({ messages }) => {
  const prompt = JSON.stringify(messages);
  if (/You are Critic/.test(prompt)) {
    if (prompt.includes("Come and build")) return '{"score": 9, "advice": "Keep it."}';
    if (prompt.includes("harbour")) return '{"score": 6, "advice": "Say what they can do there."}';
    return '{"score": 3, "advice": "Say where it is."}';
  }
  if (prompt.includes("what they can do")) return "Come and build a kite with us at the harbour!";
  return prompt.includes("where it is")
    ? "The kite festival is at the harbour."
    : "There is a kite festival.";
});
console.log(`Model: ${name} (${note})\n`);

const output = await new Ensemble({
  model,
  loops: [polish],
  onLoopIterationCompleted: (e) =>
    console.log(`iteration ${e.iterationNumber} of at most ${e.maxIterations} is done`),
}).run({ event: "kite festival" });

const history = output.loops.get("polish");
for (const [text, verdict] of history?.iterations ?? [])
  console.log(`\n${text?.raw}\n  ${verdict?.raw}`);
console.log(`\nEnded by: ${history?.terminationReason}`);
console.log(`Final text: ${output.getOutput(draft)?.raw}`);
