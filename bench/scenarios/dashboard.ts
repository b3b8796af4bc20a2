import type { Line, Scenario } from "../harness/scenario.js";
import { feedCosts } from "../work/watched-runs.js";

const TASKS = 1_000;
const CALLS = 100;

const LINES: readonly Line[] = [
  { title: "dashboard attached, nobody looks", unit: "us CPU/task", goal: 25 },
  { title: "the same, a tool loop of 100 calls", unit: "us CPU/call", goal: 10 },
  { title: "the same, a tool loop of 400 calls", unit: "us CPU/call", goal: 10 },
];

/** What the events of a run cost that a dashboard takes in and nobody reads. The floor is measured in the same process: the same runs without it. */
export const dashboardScenario: Scenario = {
  id: "dashboard",
  lines: LINES,
  rounds: 5,
  async prepare(side) {
    if (side !== "framework") return () => Promise.resolve(LINES.map(() => Number.NaN));
    const { task, call } = feedCosts(TASKS, CALLS);
    const round = async (): Promise<readonly number[]> => [
      await task(),
      await call(1),
      await call(4),
    ];
    await round();
    return round;
  },
};
