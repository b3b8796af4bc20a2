import type { Line, Scenario } from "../harness/scenario.js";
import { costsInFile, costsInMemory } from "../work/requests.js";

const LINES: readonly Line[] = [
  { title: "request accepted, in memory", unit: "us CPU", goal: 15 },
  { title: "request worked off, in memory", unit: "us CPU", goal: 60 },
  { title: "request accepted, in a folder", unit: "us CPU", goal: 60 },
  { title: "request worked off, in a folder", unit: "us CPU", goal: 300 },
];

/** What the backends of services cost: nothing is executed. */
export const networkScenario: Scenario = {
  id: "network",
  lines: LINES,
  rounds: 5,
  async prepare(side) {
    if (side !== "framework") return () => Promise.resolve(LINES.map(() => Number.NaN));
    await costsInMemory();
    await costsInFile();
    return async () => [...(await costsInMemory()), ...(await costsInFile())];
  },
};
