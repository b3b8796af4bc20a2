import type { Line, Scenario } from "../harness/scenario.js";
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
];

/** The cost of a run's events that a dashboard records, and of the pages that read them. The floor is measured in the same process: the same runs without a dashboard. */
export const dashboardScenario: Scenario = {
  id: "dashboard",
  lines: LINES,
  rounds: 5,
  async prepare(side) {
    if (side !== "framework") return () => Promise.resolve(LINES.map(() => Number.NaN));
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
    ];
    await round();
    return round;
  },
};
