// Independent tasks run in parallel. Each task starts when the last task in its context is done.
// One source fails, and CONTINUE_ON_ERROR finishes the tasks that do not depend on it.
// Run it: npm run example -- 09
import { setTimeout as pause } from "node:timers/promises";
import { Agent, Ensemble, ParallelExecutionError, Task, prompt } from "agentensemble";
import { chooseModel } from "./support/model.js";

const library: Readonly<Record<string, string>> = {
  "owl field notes":
    "The barn owl hunts at night over open fields. It finds mice by their sound alone.",
  "owl interview":
    "Farmers value the barn owl because it eats mice. Many leave a small window in the barn open for it.",
  "bat field notes":
    "Bats find insects by the echo of their calls. One colony lives under the bridge.",
};

const fetchTask = (title: string): Task =>
  new Task({
    name: `fetch ${title}`,
    description: prompt`Fetch the ${title}`,
    handler: async (ctx) => {
      await pause(100, undefined, { signal: ctx.signal }); // simulates a slow server
      const text = library[title];
      if (text === undefined) throw new Error(`'${title}' is not in the library`);
      return text;
    },
  });

const analyst = new Agent({
  role: "Analyst",
  goal: "Report what the sources say, and nothing else",
});
const reportTask = (animal: string, sources: readonly Task[]): Task =>
  new Task({
    name: `report ${animal}`,
    description: prompt`Report the main facts about the ${animal} in two points.`,
    agent: analyst,
    context: sources,
  });

const owlSources = ["owl field notes", "owl interview"].map(fetchTask);
const batSources = ["bat field notes", "bat radio archive"].map(fetchTask);
const owls = reportTask("owl", owlSources);
const bats = reportTask("bat", batSources);

const { model, name, note } = chooseModel(2);
console.log(`Model: ${name} (${note})\n`);

const team = new Ensemble({
  model,
  tasks: [...owlSources, ...batSources, owls, bats],
  workflow: "PARALLEL",
  maxConcurrency: 4,
  parallelErrorStrategy: "CONTINUE_ON_ERROR",
  onTaskStart: ({ taskId }) => console.log(`start ${taskId}`),
  onTaskComplete: ({ taskId }) => console.log(`done  ${taskId}`),
  onTaskFailed: ({ taskId, reason }) => console.log(`fail  ${taskId}: ${reason}`),
});

// With throwOnError, a failed run would reject with an error that contains the same output.
const output = await team.run({}, { throwOnError: false });

console.log(`\nOwl report:\n${output.getOutput(owls)?.raw}`);
console.log(
  `\nBat report: ${output.getOutput(bats)?.raw ?? "skipped, because one of its sources failed"}`,
);
const failed = ParallelExecutionError.find(output.error);
console.log(
  `\n${failed?.completedCount} tasks done, failed: ${[...(failed?.failedTaskCauses.keys() ?? [])].join(", ")}`,
);
await team.dispose();
