import type { Line, Scenario } from "../harness/scenario.js";
import { idlePage, keptTask, slowPage } from "../work/dashboard-memory.js";
import { lateJoin, pageCost, pagesRate } from "../work/dashboard-pages.js";
import { feedCosts } from "../work/watched-runs.js";

const TASKS = 1_000;
const CALLS = 100;

const LINES: readonly Line[] = [
  { title: "dashboard attached, no viewer", unit: "us CPU/task", goal: 25 },
  { title: "the same, a tool loop of 100 calls", unit: "us CPU/call", goal: 10 },
  { title: "the same, a tool loop of 400 calls", unit: "us CPU/call", goal: 10 },
  { title: "one page on the run", unit: "us CPU/task", goal: 45 },
  { title: "50 pages on the run", unit: "entries/s each", goal: 20_000, better: "more" },
  { title: "the same", unit: "us CPU/entry", goal: 25 },
  { title: "late join, 10,000 tasks", unit: "ms", goal: 300 },
  { title: "a page that looks at no run", unit: "kB of heap", goal: 8 },
  { title: "a page that does not read, at most", unit: "MiB waiting", goal: 2 },
  { title: "task of a run that has ended", unit: "kB of heap", goal: 2.5 },
  { title: "the same, with a model call", unit: "kB of heap" },
];

/**
 * The cost of recording a run's events on a dashboard, and of the pages that read them. The base is
 * measured in the same process: the same runs without a dashboard.
 */
export const dashboardScenario: Scenario = {
  id: "dashboard",
  lines: LINES,
  rounds: 5,
  async prepare(side) {
    if (side !== "framework") return () => Promise.resolve(LINES.map(() => Number.NaN));
    // Only once, because V8 compiles the code again after each collection of the heap.
    const memory = [
      await idlePage(90),
      await slowPage(100_000),
      await keptTask(TASKS, 20, false),
      await keptTask(TASKS, 20, true),
    ];
    const { task, call } = feedCosts(TASKS, CALLS);
    const page = pageCost(TASKS);
    const rate = pagesRate(50, 20_000);
    const join = lateJoin(10_000);
    const round = async (): Promise<readonly number[]> => [
      await task(),
      await call(1),
      await call(4),
      await page(),
      ...Object.values(await rate()),
      await join(),
      ...memory,
    ];
    await round();
    return round;
  },
};
