import type { Task } from "agentensemble";
import type { Work } from "../harness/scenario.js";
import type { Around } from "../work/around.js";
import { expectResult } from "../harness/expect.js";
import { cpuScenario } from "../harness/measure.js";
import { compare } from "../work/around.js";
import { handTask } from "../work/hand-written.js";
import { addedUp, addingModel } from "../work/models.js";
import { agentTask, teamWork } from "../work/team.js";

const DEPTH = 50;
const WIDTH = 20;
const NEEDED = 3;

function description(layer: number, place: number): string {
  return `This is task number ${layer * WIDTH + place}`;
}

/** Returns the positions in the previous layer on which a task depends. */
function neededBy(layer: number, place: number): readonly number[] {
  return layer === 0 ? [] : Array.from({ length: NEEDED }, (_, i) => (place + i * 7) % WIDTH);
}

/**
 * Creates the layers in sequence. `make` creates a task from the tasks on which it depends. Returns
 * the last layer.
 */
function build<T>(make: (name: string, needed: readonly T[]) => T): T[] {
  let before: T[] = [];
  for (let layer = 0; layer < DEPTH; layer++) {
    const below = before;
    before = Array.from({ length: WIDTH }, (_, place) => {
      const needed = neededBy(layer, place).flatMap((needs) => below.slice(needs, needs + 1));
      return make(description(layer, place), needed);
    });
  }
  return before;
}

const EXPECTED = build<string>((name, needed) =>
  addedUp(needed.length === 0 ? name : needed.join()),
).join();

function byHand(around: Around): Work {
  return async () => {
    const promises: Promise<string>[] = [];
    const last = build<Promise<string>>((name, needed) => {
      const promise = Promise.all(needed).then((outputs) =>
        around.unit(name, () => handTask(addingModel, name, outputs)),
      );
      promises.push(promise);
      return promise;
    });
    const outputs = await Promise.all(promises);
    expectResult((await Promise.all(last)).join(), EXPECTED);
    return outputs;
  };
}

function byFramework(): Work {
  const tasks: Task[] = [];
  const last = build<Task>((name, needed) => {
    const task = agentTask(name, needed);
    tasks.push(task);
    return task;
  });
  return teamWork(addingModel, { tasks }, (output) =>
    expectResult(last.map((task) => output.getOutput(task)?.raw).join(), EXPECTED),
  );
}

/** A graph in layers. Every task waits for some tasks of the previous layer. */
export const layersScenario = cpuScenario({
  id: "S4b",
  title: "graph of 50 x 20 tasks, 3 needed by each",
  unit: "us CPU/task",
  goal: 22,
  units: DEPTH * WIDTH,
  workOf: compare(byHand, byFramework),
});
