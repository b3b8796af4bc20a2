// Runs whose events the feed of a dashboard records, compared with the same runs without the feed.
import type { ChatModel, Plugin } from "agentensemble";
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { RunFeed } from "../../src/plugins/dashboard/feed/run-feed.js";
import { spentBy } from "./durable-runs.js";
import { addingModel, countingModel } from "./models.js";
import { agentTask } from "./team.js";

const step = tool({
  name: "step",
  description: "Adds one to a number",
  input: { type: "object", properties: { value: { type: "integer" } }, required: ["value"] },
  execute: ({ value }: { readonly value: number }) => String(value + 1),
});

function counter(): Task {
  const agent = new Agent({
    role: "Calculator",
    goal: "Say the right number",
    tools: [step],
    maxIterations: 1_000_000,
  });
  return new Task({ description: "Count", agent });
}

function feeding(feed: RunFeed): Plugin {
  return { name: "feeding", apply: ({ events }) => void feed.attach(events) };
}

/**
 * Returns the CPU microseconds that the feed adds to each of `units` parts of a run. Runs with and
 * without the feed alternate. Compares the medians.
 */
function added(tasks: readonly Task[], model: ChatModel, units: number): () => Promise<number> {
  const feed = new RunFeed({ maxRuns: 3 });
  const bare = new Ensemble({ tasks, model, workflow: "PARALLEL" });
  const fed = new Ensemble({ tasks, model, workflow: "PARALLEL", plugins: [feeding(feed)] });
  return async () => {
    const micros: [number[], number[]] = [[], []];
    for (let i = 0; i < 9; i++)
      for (const [side, ensemble] of [bare, fed].entries())
        micros[side]?.push((await spentBy(() => ensemble.run())).cpuMs * 1_000);
    if (feed.logs.some(({ encoded }) => encoded > 0)) throw new Error("A viewer read entries");
    const [without = 0, withFeed = 0] = micros.map((all) => all.sort((a, b) => a - b)[4] ?? 0);
    return (withFeed - without) / units;
  };
}

/** Returns the additional cost of a task and of a tool call. */
export function feedCosts(
  tasks: number,
  calls: number,
): { readonly task: () => Promise<number>; readonly call: (factor: number) => Promise<number> } {
  const names = Array.from({ length: tasks }, (_, n) => agentTask(`This is task number ${n}`));
  const loops = new Map<number, () => Promise<number>>();
  return {
    task: added(names, addingModel, tasks),
    call(factor) {
      const units = calls * factor;
      const loop = loops.get(factor) ?? added([counter()], countingModel(units), units);
      loops.set(factor, loop);
      return loop();
    },
  };
}
