// A person reviews a draft before it is sent. In a terminal, you are that person. Elsewhere a
// script supplies the answers.
// Run it: npm run example -- 25
import { PassThrough } from "node:stream";
import { Ensemble, Review, ReviewHandler, Task } from "agentensemble";
import { realOrScripted } from "./support/scripted.js";

/**
 * Returns standard input in a terminal. Otherwise returns a script that edits the draft and then
 * ends the run before anything is sent.
 */
function keyboard(): NodeJS.ReadableStream {
  if (process.stdin.isTTY) return process.stdin;
  const script = new PassThrough();
  script.end("e\nWe open again on Monday, with a new reading room.\nc\n\nx\n");
  return script;
}

const { model, name, note } = realOrScripted(() => "The library reopens on Monday.");
console.log(`Model: ${name} (${note})`);
const input = keyboard();

const draft = new Task({
  name: "draft",
  description: "Write one sentence for the library's readers: it opens again on Monday.",
  review: Review.of({ prompt: "Fit to be sent?", timeoutMs: 120_000 }),
});
const send = new Task({
  name: "send",
  description: "Send it",
  context: [draft],
  handler: ({ getOutput }) => `sent: ${getOutput(draft).raw}`,
  beforeReview: Review.required("Really to all 4,000 readers?"),
});

const team = new Ensemble({
  model,
  tasks: [draft, send],
  reviewHandler: ReviewHandler.console({ input }),
  on: (e) => e.type === "review_resolved" && console.log(`\n(${e.taskId}: ${e.decision})`),
});

for (const round of ["First", "Second"]) {
  const output = await team.run();
  console.log(`\n${round} run: ${output.exitReason}, ${output.raw}`);
}
await team.dispose();
