import type { EnsembleOutput } from "agentensemble";
import type { Scenario, SideName, Work } from "../harness/scenario.js";
import { collectGarbage, repeat } from "../harness/measure.js";
import { chain } from "./chain.js";

const LENGTH = 100;
const KEPT_RUNS = 50;
const DROPPED_RUNS = 300;

function heap(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/**
 * Returns the memory per task if all results are kept. For the framework, the trace is also kept.
 */
async function kept(work: Work, side: SideName): Promise<number> {
  const results = new Array<unknown>(KEPT_RUNS * 2).fill(undefined);
  const before = heap();
  for (let i = 0; i < KEPT_RUNS; i++) {
    const result = await work();
    results[i * 2] = result;
    if (side === "framework") results[i * 2 + 1] = (result as EnsembleOutput).trace; // the framework returns the output
  }
  const bytes = heap() - before;
  if (results[0] === undefined) throw new Error("Nothing was kept"); // the results must exist until the measurement
  return bytes / (KEPT_RUNS * LENGTH);
}

/** Returns the growth of memory per task if no result is kept. */
async function grown(work: Work): Promise<number> {
  const before = heap();
  await repeat(DROPPED_RUNS, work);
  return (heap() - before) / (DROPPED_RUNS * LENGTH);
}

/** Memory of chains of tasks: retained with the outputs, and leaked without them. */
export const memoryScenario: Scenario = {
  id: "S7",
  lines: [
    { title: "memory, output and trace kept", unit: "byte/task", goal: 1_500 },
    { title: "memory, growth with outputs dropped", unit: "byte/task", goal: 20 },
  ],
  rounds: 5,
  async prepare(side) {
    const work = chain(LENGTH)(side);
    await repeat(DROPPED_RUNS, work);
    return async () => [await kept(work, side), await grown(work)];
  },
};
