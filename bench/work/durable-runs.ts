// Runs that are stored in a folder, compared with the same runs without a journal.
import type { ChatModel, Plugin } from "agentensemble";
import { Ensemble, Task } from "agentensemble";
import { Journal, durable } from "agentensemble/durability";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { addingModel } from "./models.js";
import { benchFolder } from "./durable-writes.js";
import { agentTask } from "./team.js";

const TASKS_AT_ONCE = 16;

/** Milliseconds of elapsed time and of CPU. */
export interface Spent {
  readonly wallMs: number;
  readonly cpuMs: number;
}

export async function spentBy(work: () => Promise<unknown>): Promise<Spent> {
  const cpu = process.cpuUsage();
  const began = performance.now();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - began, cpuMs: (user + system) / 1_000 };
}

const handlers = (count: number): Task[] =>
  Array.from(
    { length: count },
    (_, n) => new Task({ name: `task-${n}`, description: `Do ${n}`, handler: () => `done ${n}` }),
  );

const asked = (count: number): Task[] =>
  Array.from({ length: count }, (_, n) => agentTask(`This is task number ${n}`));

const kept = (folder = join(benchFolder(), "runs")): Plugin =>
  durable({ journal: Journal.file(folder) });

function team(tasks: readonly Task[], plugins: readonly Plugin[], model: ChatModel): Ensemble {
  return new Ensemble({ tasks, plugins, model, workflow: "PARALLEL", maxConcurrency: TASKS_AT_ONCE }); // prettier-ignore
}

/**
 * Returns the cost of the journal in CPU microseconds, per task with a handler and per model call.
 */
export function overheads(count: number): () => Promise<{ perTask: number; perCall: number }> {
  const sides = [[], [kept()]].flatMap((plugins) =>
    [handlers(count), asked(count)].map((tasks) => team(tasks, plugins, addingModel)),
  );
  return async () => {
    const micros: number[] = [];
    for (const ensemble of sides) {
      const { cpuMs } = await spentBy(() => ensemble.run());
      micros.push((cpuMs * 1_000) / count);
    }
    const [task = 0, call = 0, keptTask = 0, keptCall = 0] = micros;
    return { perTask: keptTask - task, perCall: keptCall - call - (keptTask - task) };
  };
}

/**
 * Measures runs whose last task always fails. Returns the cost of resuming them, and of the same
 * work without a journal.
 */
export async function resumes(
  count: number,
): Promise<() => Promise<{ readonly resumed: Spent; readonly done: Spent }>> {
  const make = (plugins: readonly Plugin[]): Ensemble => {
    const tasks = handlers(count);
    const last = new Task({
      name: "last",
      description: "Fail",
      context: tasks,
      handler: (): string => {
        throw new Error("not yet");
      },
    });
    return team([...tasks, last], plugins, addingModel);
  };
  const folder = join(benchFolder(), "runs");
  const [bare, durably] = [make([]), make([kept(folder)])];
  const run = async (ensemble: Ensemble, runId?: string): Promise<void> => {
    const options = { ...(runId !== undefined && { runId }), throwOnError: false };
    const output = await ensemble.run({}, options);
    if (output.taskOutputs.length !== count) throw new Error("The tasks were not done");
  };
  await run(durably, "r");
  await run(bare);
  const file = join(folder, "r.jsonl");
  const begun = await readFile(file); // each execution that fails adds its result
  return async () => {
    await writeFile(file, begun);
    return {
      resumed: await spentBy(() => run(durably, "r")),
      done: await spentBy(() => run(bare)),
    };
  };
}
