import { Kernel, MapReduceEnsemble, standardPlugins } from "agentensemble";
import type { Work } from "../harness/scenario.js";
import type { Around } from "../work/around.js";
import { expectResult } from "../harness/expect.js";
import { cpuScenario } from "../harness/measure.js";
import { compare } from "../work/around.js";
import { handTask } from "../work/hand-written.js";
import { addedUp, addingModel } from "../work/models.js";
import { exportTrace } from "../work/trace.js";
import { agentTask } from "../work/team.js";

const ITEMS = Array.from({ length: 5_000 }, (_, i) => i);
const CHUNK = 10;

const mapText = (item: number): string => `This is task number ${item}`;
const reduceText = (count: number): string => `Add all ${count} of them up`;

/** Returns the sizes of all levels, beginning with the items. */
function levels(): readonly number[] {
  const sizes = [ITEMS.length];
  for (let size = ITEMS.length; size > 1;) sizes.push((size = Math.ceil(size / CHUNK)));
  return sizes;
}

/** Reduces a level to one value. `make` creates one value from each chunk. */
async function reduceAll<T>(
  mapped: readonly T[],
  make: (chunk: readonly T[]) => Promise<T>,
): Promise<T | undefined> {
  let level = mapped;
  while (level.length > 1) {
    const below = level;
    level = await Promise.all(
      Array.from({ length: Math.ceil(below.length / CHUNK) }, (_, i) =>
        make(below.slice(i * CHUNK, (i + 1) * CHUNK)),
      ),
    );
  }
  return level[0];
}

const expected = reduceAll(
  ITEMS.map((item) => addedUp(mapText(item))),
  async (chunk) => addedUp(chunk.join()),
);

function byHand(around: Around): Work {
  return async () => {
    const outputs: string[] = [];
    const task = async (name: string, context: readonly string[]): Promise<string> => {
      const output = await around.unit(name, () => handTask(addingModel, name, context));
      outputs.push(output);
      return output;
    };
    const mapped = await Promise.all(ITEMS.map((item) => task(mapText(item), [])));
    expectResult(
      await reduceAll(mapped, (chunk) => task(reduceText(chunk.length), chunk)),
      await expected,
    );
    return outputs;
  };
}

/**
 * Creates the tree again in every run, as for a new list of items. Does not create the kernel
 * again.
 */
function byFramework(): Work {
  const kernel = new Kernel({ plugins: standardPlugins() });
  let traced = false;
  let reduces = 0;
  return async () => {
    const sum = new MapReduceEnsemble({
      kernel,
      model: addingModel,
      items: ITEMS,
      chunkSize: CHUNK,
      mapTask: (item) => agentTask(mapText(item)),
      reduceTask: (tasks) => agentTask(`${reduceText(tasks.length)} (${++reduces})`, tasks),
    });
    const output = await sum.run();
    expectResult(output.parsed, await expected);
    if (!traced && output.trace.taskTraces.length !== UNITS)
      throw new Error("The trace is not complete");
    traced = true;
    exportTrace(output);
    return output;
  };
}

const UNITS = levels().reduce((sum, size) => sum + size, 0);

/** A tree of tasks: 5,000 items, then chunks of outputs until one is left. */
export const mapReduceScenario = cpuScenario({
  id: "S5",
  title: "map-reduce of 5,000 items, chunks of 10",
  unit: "us CPU/task",
  goal: 18,
  units: UNITS,
  workOf: compare(byHand, byFramework),
});
