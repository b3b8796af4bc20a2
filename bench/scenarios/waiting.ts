import type { Scenario, Work } from "../harness/scenario.js";
import type { Around } from "../work/around.js";
import { expectResult } from "../harness/expect.js";
import { repeat } from "../harness/measure.js";
import { compare } from "../work/around.js";
import { handTask } from "../work/hand-written.js";
import { pausingModel } from "../work/models.js";
import { written } from "../work/numbers.js";
import { agentTask, teamWork } from "../work/team.js";

const TASKS = 500;
const PAUSE_MS = 50;

const model = pausingModel(PAUSE_MS);
const names = Array.from({ length: TASKS }, (_, i) => `This is task number ${i}`);
const EXPECTED = names.map((_, i) => written(i)).join();

function byHand(around: Around): Work {
  return async () => {
    const outputs = await Promise.all(
      names.map((name) => around.unit(name, () => handTask(model, name, []))),
    );
    expectResult(outputs.join(), EXPECTED);
  };
}

function byFramework(): Work {
  const tasks = names.map((name) => agentTask(name));
  return teamWork(model, { tasks, workflow: "PARALLEL" }, (output) =>
    expectResult(output.taskOutputs.map((o) => o.raw).join(), EXPECTED),
  );
}

/** Many tasks that wait concurrently: the total time relative to one wait. */
export const waitingScenario: Scenario = {
  id: "S8",
  lines: [{ title: "500 parallel tasks of 50 ms", unit: "% of ideal", goal: 88, better: "more" }],
  rounds: 15,
  async prepare(side) {
    const work = compare(byHand, byFramework)(side);
    await repeat(20, work);
    return async () => {
      const before = performance.now();
      await work();
      return [(100 * PAUSE_MS) / (performance.now() - before)];
    };
  },
};
