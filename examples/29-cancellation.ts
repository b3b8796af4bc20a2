// Cancels a run from outside. Finished outputs are kept. A tool that observes its signal ends at
// once. A tool that ignores its signal is abandoned after a grace period. run() returns in any
// case.
// Run it: npm run example -- 29
import { setTimeout as sleep } from "node:timers/promises";
import { Ensemble, RunCancelledError, RunTimeoutError, Task } from "agentensemble";

const quick = new Task({ name: "quick", description: "Look it up", handler: () => "found" });
const polite = new Task({
  name: "polite",
  description: "Wait for an answer",
  handler: ({ signal }) => sleep(60_000, "late", { signal }),
});
const stubborn = new Task({
  name: "stubborn",
  description: "Listen to nobody",
  handler: () =>
    new Promise<string>((resolve) => setTimeout(resolve, 3_000, "much too late").unref()),
});

for (const slow of [polite, stubborn]) {
  const controller = new AbortController();
  await using team = new Ensemble({
    tasks: [quick, slow],
    onTaskComplete: () => controller.abort(),
  });
  const began = performance.now();
  try {
    await team.run({}, { signal: controller.signal, cancelGraceMs: 200 });
  } catch (error) {
    const cancelled = RunCancelledError.find(error);
    const within = performance.now() - began < 1_500;
    console.log(
      `${slow.name}: ${cancelled?.output?.exitReason}, kept: ${cancelled?.output?.completedTasks.map((t) => t.raw).join(", ")}, back at once: ${within}`,
    );
  }
}

// A time limit has the same effect, but causes another error. With throwOnError: false, run()
// returns the partial output.
await using team = new Ensemble({ tasks: [quick, polite] });
const output = await team.run({}, { timeoutMs: 100, throwOnError: false });
console.log(
  `time limit: ${output.exitReason}, ${RunTimeoutError.isInstance(output.error)}, complete: ${output.isComplete}`,
);
