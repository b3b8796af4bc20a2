import type { AnyTask, EnsembleOptions } from "agentensemble";
import { Graph, Loop, Phase } from "agentensemble";

/** A way to run some tasks one after the other. A new workflow adds one row. */
export interface Shape {
  readonly name: string;
  readonly options: (tasks: readonly AnyTask[]) => EnsembleOptions;
}

function phaseChain(tasks: readonly AnyTask[]): readonly Phase[] {
  const phases: Phase[] = [];
  tasks.forEach((task, i) =>
    phases.push(new Phase({ name: `phase-${i}`, tasks: [task], after: phases.slice(-1) })),
  );
  return phases;
}

function chain(tasks: readonly AnyTask[]): Graph {
  const states = Object.fromEntries(tasks.map((task, i) => [`s${i}`, task]));
  const edges = tasks.map((_, i) => ({
    from: `s${i}`,
    to: i + 1 < tasks.length ? `s${i + 1}` : Graph.END,
  }));
  return new Graph<string>({ name: "graph", states, start: "s0", edges });
}

/** Every workflow that executes given tasks; rules of tasks apply in all of them. */
export const SHAPES: readonly Shape[] = [
  { name: "SEQUENTIAL", options: (tasks) => ({ tasks, workflow: "SEQUENTIAL" }) },
  { name: "PARALLEL", options: (tasks) => ({ tasks, workflow: "PARALLEL", maxConcurrency: 1 }) },
  { name: "PHASES", options: (tasks) => ({ phases: phaseChain(tasks) }) },
  {
    name: "LOOP",
    options: (tasks) => ({ loops: [new Loop({ name: "loop", tasks, maxIterations: 1 })] }),
  },
  {
    name: "LOOP in PARALLEL",
    options: (tasks) => ({
      loops: [new Loop({ name: "loop", tasks, maxIterations: 1 })],
      workflow: "PARALLEL",
    }),
  },
  { name: "GRAPH", options: (tasks) => ({ graph: chain(tasks) }) },
];
