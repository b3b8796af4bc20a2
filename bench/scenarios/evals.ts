import type { ChatModel, Task } from "agentensemble";
import { setTimeout as sleep } from "node:timers/promises";
import { Ensemble, openai } from "agentensemble";
import { evaluate, exact } from "agentensemble/evals";
import type { Scenario } from "../harness/scenario.js";
import { expectResult } from "../harness/expect.js";
import { collectGarbage, WARM_UP_RUNS } from "../harness/measure.js";
import { spentBy, type Spent } from "../work/durable-runs.js";
import { addingModel } from "../work/models.js";
import { written } from "../work/numbers.js";
import { agentTask } from "../work/team.js";
import { vendorAddress } from "../work/vendor-server.js";

const CASES = 400;
const AT_ONCE = 4;
const LONG = 10;
const ANSWER_MS = 20;
/** The answer of the server of `vendorAddress`. */
const VENDOR_ANSWER = "Stockholm has fourteen islands.";

const slowModel: ChatModel = {
  ...addingModel,
  chat: async (request, options) => {
    await sleep(ANSWER_MS);
    return addingModel.chat(request, options);
  },
};

interface Compared {
  /** Executes the same runs without an evaluation, with the same concurrency. */
  bare(): Promise<void>;
  evaluated(): Promise<void>;
}

/** Returns runs of tasks that add one to the result of the previous task. */
function addingRuns(tasksOfRun: number, cases: number, model: ChatModel = addingModel): Compared {
  const tasks: Task[] = [];
  for (let i = 0; i < tasksOfRun; i++)
    tasks.push(agentTask(`Add one. This is task number ${i + 1}`, tasks.slice(-1)));
  return comparedRuns(new Ensemble({ model, tasks }), cases, written(tasksOfRun));
}

/** Returns runs of one request to a server in another process. */
async function vendorRuns(cases: number): Promise<Compared> {
  const model = openai("gpt-4o-mini", { baseURL: await vendorAddress(), apiKey: "bench" });
  const target = new Ensemble({ model, tasks: [agentTask("How many islands has Stockholm?")] });
  return comparedRuns(target, cases, VENDOR_ANSWER);
}

function comparedRuns(target: Ensemble, cases: number, expected: string): Compared {
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

/**
 * The cost that an evaluation adds to its runs. The base is measured in the same process: the same
 * runs without an evaluation.
 */
export const evalsScenario: Scenario = {
  id: "evals",
  lines: [
    { title: "evaluated requests to a vendor", unit: "x bare runs, CPU", goal: 1.2 },
    { title: "runs of one call of 20 ms", unit: "x bare runs, time", goal: 1.2 },
    { title: "runs without a vendor, one task", unit: "x bare runs, CPU" },
    { title: "the same, added by a case", unit: "us CPU/case" },
    { title: "runs without a vendor, 10 tasks", unit: "x bare runs, CPU" },
  ],
  rounds: 7,
  async prepare(side) {
    if (side !== "framework") return () => Promise.resolve(Array<number>(5).fill(Number.NaN));
    const vendor = await vendorRuns(CASES);
    const slow = addingRuns(1, CASES / 10, slowModel);
    const short = addingRuns(1, CASES);
    const long = addingRuns(LONG, CASES / 4);
    for (let runs = 0; runs < WARM_UP_RUNS; runs += CASES)
      for (const { bare, evaluated } of [vendor, slow, short, long]) {
        await bare();
        await evaluated();
      }
    collectGarbage();
    return async () => {
      const spent = async ({ bare, evaluated }: Compared): Promise<readonly [Spent, Spent]> => [
        await spentBy(bare),
        await spentBy(evaluated),
      ];
      const [bareRequests, requests] = await spent(vendor);
      const [bareWaits, waits] = await spent(slow);
      const [bareOne, one] = await spent(short);
      const [bareTen, ten] = await spent(long);
      return [
        requests.cpuMs / bareRequests.cpuMs,
        waits.wallMs / bareWaits.wallMs,
        one.cpuMs / bareOne.cpuMs,
        ((one.cpuMs - bareOne.cpuMs) * 1_000) / CASES,
        ten.cpuMs / bareTen.cpuMs,
      ];
    };
  },
};
