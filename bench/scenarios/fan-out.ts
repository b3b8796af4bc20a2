import type { Work, WorkOf } from "../harness/scenario.js";
import type { Around } from "../work/around.js";
import { expectResult } from "../harness/expect.js";
import { cpuScenario } from "../harness/measure.js";
import { compare } from "../work/around.js";
import { handTask } from "../work/hand-written.js";
import { MODULUS, addingModel } from "../work/models.js";
import { written } from "../work/numbers.js";
import { agentTask, teamWork } from "../work/team.js";

const JOIN = "Add all of them up";

/**
 * Returns the expected answer of the last task: one more than the sum of the numbers of all tasks.
 */
function expected(width: number): string {
  return written(((width * (width - 1)) / 2 + 1) % MODULUS);
}

function descriptions(width: number): string[] {
  return Array.from({ length: width }, (_, i) => `This is task number ${i}`);
}

function byHand(width: number, around: Around): Work {
  const names = descriptions(width);
  return async () => {
    const outputs = await Promise.all(
      names.map((name) => around.unit(name, () => handTask(addingModel, name, []))),
    );
    const joined = await around.unit(JOIN, () => handTask(addingModel, JOIN, outputs));
    expectResult(joined, expected(width));
    return [...outputs, joined];
  };
}

function byFramework(width: number): Work {
  const tasks = descriptions(width).map((name) => agentTask(name));
  return teamWork(addingModel, { tasks: [...tasks, agentTask(JOIN, tasks)] }, (output) =>
    expectResult(output.raw, expected(width)),
  );
}

/** Concurrent independent tasks, and one task that depends on all of them. */
export function fanOut(width: number): WorkOf {
  return compare(
    (around) => byHand(width, around),
    () => byFramework(width),
  );
}

export const fanOutScenario = cpuScenario({
  id: "S4a",
  title: "1,000 independent tasks and a join",
  unit: "us CPU/task",
  goal: 16,
  units: 1_001,
  workOf: fanOut(1_000),
});
