// Shows runs in progress on a web page that the program serves. The program is its own visitor. It
// reads the run's server-sent events and answers the review. For your own team, open the printed
// address in a browser and omit the last part.
// Run it: npm run example -- 57
import { Agent, Ensemble, Review, Task, tool } from "agentensemble";
import { dashboard } from "agentensemble/dashboard";
import { z } from "zod";
import { realOrScripted } from "./support/scripted.js";

const { model, name } = realOrScripted(({ messages }) =>
  messages.some(({ role }) => role === "tool")
    ? { chunks: ["Swifts sleep ", "while they fly."] }
    : { toolCalls: [{ name: "look_up", arguments: { bird: "swift" } }] },
);
console.log(`Model: ${name}\n`);

const lookUp = tool({
  name: "look_up",
  description: "Looks a bird up",
  input: z.object({ bird: z.string() }),
  execute: ({ bird }) => `${bird}: sleeps in the air`,
});

// Port 0 selects a free port. By default, the page is at http://localhost:7329.
await using board = dashboard({ port: 0 });
board.onReview(({ prompt }, link) => {
  console.log(`  waits for a person: ${prompt ?? ""} ${link}`);
});

const writing = new Task({
  name: "writing",
  description: "Write one sentence on how swifts sleep",
  agent: new Agent({ role: "Writer", goal: "Writes about birds", tools: [lookUp] }),
  review: Review.required("Is this right?"),
});
await using team = new Ensemble({ name: "birds", model, tasks: [writing], plugins: [board] });

const address = await board.listen();
let answered: Promise<string> | undefined;
board.onReview(() => {
  answered = approve();
});
const run = team.stream();
console.log(`The page: ${address}#/runs/${run.id}\n`);

/** Answers the first pending review, as the page does. Returns the outcome of the answer. */
async function approve(): Promise<string> {
  const waiting = await fetch(`${address}api/reviews?state=waiting`);
  const { reviews } = (await waiting.json()) as { reviews: { reviewId: string }[] };
  const answer = await fetch(`${address}api/reviews/${reviews[0]?.reviewId}`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: new URL(address).origin },
    body: JSON.stringify({ decision: "approve", comment: "Well put." }),
  });
  return ((await answer.json()) as { status: string }).status;
}

for await (const { type } of run.events) {
  if (["task_started", "tool_called", "task_completed"].includes(type)) console.log(`  ${type}`);
}
console.log(`\n${(await run.output).raw}`);
console.log(`The answer: ${await answered}`);

// While the program runs, all data of the page can be requested.
const answer = await fetch(`${address}api/runs/${run.id}`);
const { summary } = (await answer.json()) as { summary: { state: string; n: number } };
console.log(`The run: ${summary.state}, ${summary.n + 1} entries`);
