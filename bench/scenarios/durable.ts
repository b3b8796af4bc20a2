import type { Line, Scenario } from "../harness/scenario.js";
import { addedBytes, fileWrites, sqlWrites, type Write, type Writes } from "../work/durable-writes.js"; // prettier-ignore
import { overheads, resumes, spentBy } from "../work/durable-runs.js";

const WRITES = 200;
const AT_ONCE = 16;
const TASKS = 500;
const [FEW, MANY] = [1_000, 10_000];
const WARM_UP = 30;
const LINES: readonly Line[] = [
  { title: "one entry in a file", unit: "x bare write and sync", goal: 2 },
  { title: "16 entries at once in a file", unit: "x one by one", goal: 0.25 },
  { title: "one entry in PostgreSQL", unit: "x bare insert", goal: 2 },
  { title: "CPU of an entry in PostgreSQL", unit: "x bare insert", goal: 2 },
  { title: "16 entries at once in PostgreSQL", unit: "x one by one", goal: 0.25 },
  { title: "an entry without its text, in a file", unit: "byte", goal: 300 },
  { title: "journal of a task of a handler", unit: "us CPU/task" },
  { title: "journal of a model call", unit: "us CPU/call" },
  { title: "resume of 1,000 finished tasks", unit: "ms" },
  { title: "resume of 10,000 finished tasks", unit: "ms" },
  { title: "CPU of the resume of 1,000 tasks", unit: "x doing them", goal: 3 },
  { title: "growth of resume, 1,000 to 10,000", unit: "exponent", goal: 1.05 },
];

async function times(count: number, write: Write): Promise<void> {
  for (let i = 0; i < count; i++) await write();
}

/**
 * Returns entries relative to bare writes: elapsed time, CPU, and concurrent entries relative to
 * sequential entries.
 */
async function ratios({ entry, bare }: Writes): Promise<readonly [number, number, number]> {
  const byItself = await spentBy(() => times(WRITES, bare));
  const inOrder = await spentBy(() => times(WRITES, entry));
  const sideBySide = await spentBy(() =>
    Promise.all(Array.from({ length: AT_ONCE }, () => times(WRITES / AT_ONCE, entry))),
  );
  return [
    inOrder.wallMs / byItself.wallMs,
    inOrder.cpuMs / byItself.cpuMs,
    sideBySide.wallMs / inOrder.wallMs,
  ];
}

/**
 * The cost of `durable()`. The base is measured in the same process: bare writes, and the same runs
 * without `durable()`.
 */
export const durableScenario: Scenario = {
  id: "durable",
  lines: LINES,
  rounds: 5,
  async prepare(side) {
    if (side !== "framework") return () => Promise.resolve(LINES.map(() => Number.NaN));
    const [file, sql] = [await fileWrites(), await sqlWrites()];
    const overhead = overheads(TASKS);
    const [few, many] = [await resumes(FEW), await resumes(MANY)];
    await overhead();
    for (let i = 0; i < WARM_UP; i++) await few(); // until V8 has compiled both sides
    let rounds = 0;
    return async () => {
      const inFile = await ratios(file);
      const inSql = sql === undefined ? undefined : await ratios(sql);
      const { perTask, perCall } = await overhead();
      const bytes = await addedBytes();
      const [short, long] = [await few(), await many()];
      if (++rounds === durableScenario.rounds) await Promise.all([file.close(), sql?.close()]);
      return [
        inFile[0],
        inFile[2],
        ...(inSql ?? [Number.NaN, Number.NaN, Number.NaN]),
        bytes,
        perTask,
        perCall,
        short.resumed.wallMs,
        long.resumed.wallMs,
        short.resumed.cpuMs / short.done.cpuMs,
        Math.log(long.resumed.cpuMs / short.resumed.cpuMs) / Math.log(MANY / FEW),
      ];
    };
  },
};
