import type { ChatModel, Task } from "agentensemble";
import { setTimeout as sleep } from "node:timers/promises";
import { Ensemble } from "agentensemble";
import { evaluate, exact } from "agentensemble/evals";
import type { Scenario } from "../harness/scenario.js";
import { expectResult } from "../harness/expect.js";
import { collectGarbage } from "../harness/measure.js";
import { spentBy } from "../work/durable-runs.js";
import { addingModel } from "../work/models.js";
import { written } from "../work/numbers.js";
import { agentTask } from "../work/team.js";

const CASES = 400;
const AT_ONCE = 4;
const LONG = 10;
const ANSWER_MS = 20;

const slowModel: ChatModel = {
  ...addingModel,
  chat: async (request, options) => {
    await sleep(ANSWER_MS);
    return addingModel.chat(request, options);
  },
};

interface Compared {
  /** The same runs without an evaluation, as many at a time. */
  bare(): Promise<void>;
  evaluated(): Promise<void>;
}

function comparedRuns(tasksOfRun: number, cases: number, model: ChatModel = addingModel): Compared {
  const tasks: Task[] = [];
  for (let i = 0; i < tasksOfRun; i++)
    tasks.push(agentTask(`Add one. This is task number ${i + 1}`, tasks.slice(-1)));
  const target = new Ensemble({ model, tasks });
  const expected = written(tasksOfRun);
  const dataset = Array.from({ length: cases }, (_, i) => ({ id: `${i}`, input: {}, expected }));
  return {
    async bare() {
      const left = dataset.values();
      const worker = async (): Promise<void> => {
        for (const { input } of left) expectResult((await target.run(input)).raw, expected);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
    },
    async evaluated() {
      const options = { name: "bench", target, dataset, scorers: [exact()], concurrency: AT_ONCE };
      const { scores, problemCount } = await evaluate(options);
      expectResult(`${scores[0]?.cases} ${scores[0]?.mean} ${problemCount}`, `${cases} 1 0`);
    },
  };
}

/** What an evaluation adds to its runs. The floor is measured in the same process: the same runs without it. */
export const evalsScenario: Scenario = {
  id: "evals",
  lines: [
    { title: "evaluated runs of one task", unit: "x bare runs, CPU", goal: 1.2 },
    { title: "the same, added by a case", unit: "us CPU/case" },
    { title: "evaluated runs of 10 tasks", unit: "x bare runs, CPU", goal: 1.2 },
    { title: "runs of one call of 20 ms", unit: "x bare runs, time", goal: 1.2 },
  ],
  rounds: 7,
  async prepare(side) {
    if (side !== "framework") return () => Promise.resolve(Array<number>(4).fill(Number.NaN));
    const short = comparedRuns(1, CASES);
    const long = comparedRuns(LONG, CASES / 4);
    const slow = comparedRuns(1, CASES / 10, slowModel);
    for (let i = 0; i < 3; i++)
      for (const { bare, evaluated } of [short, long, slow]) {
        await bare();
        await evaluated();
      }
    collectGarbage();
    return async () => {
      const one = [await spentBy(short.bare), await spentBy(short.evaluated)] as const;
      const ten = [await spentBy(long.bare), await spentBy(long.evaluated)] as const;
      const waits = [await spentBy(slow.bare), await spentBy(slow.evaluated)] as const;
      return [
        one[1].cpuMs / one[0].cpuMs,
        ((one[1].cpuMs - one[0].cpuMs) * 1_000) / CASES,
        ten[1].cpuMs / ten[0].cpuMs,
        waits[1].wallMs / waits[0].wallMs,
      ];
    };
  },
};
