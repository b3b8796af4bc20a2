import type { Task } from "agentensemble";
import type { Work, WorkOf } from "../harness/scenario.js";
import type { Around } from "../work/around.js";
import { expectResult } from "../harness/expect.js";
import { cpuScenario } from "../harness/measure.js";
import { compare } from "../work/around.js";
import { handTask } from "../work/hand-written.js";
import { addingModel } from "../work/models.js";
import { written } from "../work/numbers.js";
import { agentTask, teamWork } from "../work/team.js";

function byHand(length: number, around: Around): Work {
  const descriptions = Array.from({ length }, (_, i) => `Add one. This is task number ${i + 1}`);
  return async () => {
    let last: string[] = [];
    const outputs: string[] = [];
    for (const description of descriptions) {
      const output = await around.unit(description, () => handTask(addingModel, description, last));
      outputs.push(output);
      last = [output];
    }
    expectResult(last[0], written(length));
    return outputs;
  };
}

function byFramework(length: number): Work {
  const tasks: Task[] = [];
  for (let i = 0; i < length; i++)
    tasks.push(agentTask(`Add one. This is task number ${i + 1}`, tasks.slice(-1)));
  return teamWork(addingModel, { tasks, workflow: "SEQUENTIAL" }, (output) =>
    expectResult(output.raw, written(length)),
  );
}

/** Tasks in sequence, each with the output of the previous task as its context. */
export function chain(length: number): WorkOf {
  return compare(
    (around) => byHand(length, around),
    () => byFramework(length),
  );
}

export const chainScenario = cpuScenario({
  id: "S1",
  title: "chain of 100 tasks",
  unit: "us CPU/task",
  goal: 20,
  units: 100,
  workOf: chain(100),
});
