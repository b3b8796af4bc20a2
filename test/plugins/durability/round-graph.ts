import type { Task } from "agentensemble";
import { Graph } from "agentensemble";

/**
 * A graph that alternates between the tasks `one` and `two`, and ends with `two` after `steps`
 * steps.
 */
export function roundGraph(task: (name: string) => Task, steps: number): Graph<"one" | "two"> {
  return new Graph({
    name: "round",
    start: "one",
    states: { one: task("one"), two: task("two") },
    edges: [
      { from: "one", to: "two" },
      { from: "two", to: "one", when: (step) => step.stepNumber < steps },
      { from: "two", to: Graph.END },
    ],
  });
}
