// A rate limit applies to all calls that share its owner. Here the owner is an ensemble, in two
// concurrent runs with three parallel tasks each. A call above the limit waits. A call whose wait
// would be too long fails.
// Run it: npm run example -- 13
import {
  definePlugin,
  Ensemble,
  RateLimit,
  RateLimitTimeoutError,
  Task,
  prompt,
} from "agentensemble";
import { rateLimited } from "agentensemble/resilience";
import { ScriptedModel } from "agentensemble/testing";
import { realOrScripted } from "./support/scripted.js";

const tasks = ["barn owl", "robin", "kingfisher"].map(
  (bird) =>
    new Task({
      name: bird,
      description: prompt`Say in one sentence what is special about the ${bird}.`,
    }),
);
const { model, name, note } = realOrScripted(() => "It flies.");
console.log(`Model: ${name} (${note})\n`);

/** Prints the start time of each model call. Its tap runs last. */
const began = performance.now();
const clock = definePlugin({
  name: "clock",
  apply: ({ hooks }) =>
    hooks.beforeLlmCall.tap({ name: "clock", lane: "answer", order: "post" }, ({ run, taskId }) => {
      console.log(
        `${String(Math.round(performance.now() - began)).padStart(5)} ms  ${run.id} asks about the ${taskId}`,
      );
    }),
});

// At most two calls begin in any 300 ms.
const team = new Ensemble({
  model,
  tasks,
  workflow: "PARALLEL",
  rateLimit: RateLimit.of(2, 300),
  plugins: [clock],
});
await Promise.all([team.run({}, { runId: "run 1" }), team.run({}, { runId: "run 2" })]);
await team.dispose();

// Any model can have a limit. If the wait is certain to be too long, the call fails at once.
const slow = rateLimited(
  new ScriptedModel(() => "Hello."),
  RateLimit.perMinute(1).with({ waitTimeoutMs: 1_000 }),
);
await using pair = new Ensemble({
  model: slow,
  tasks: [Task.of("Greet"), Task.of("Greet again")],
  on: (e) => e.type === "task_completed" && console.log(`\n${e.taskId} done`),
});
try {
  await pair.run();
} catch (error) {
  console.log(RateLimitTimeoutError.find(error)?.message);
}
