import type { Line, Scenario } from "../harness/scenario.js";
import { natsFigures, bareNatsFigures, hasNats } from "../work/nats-requests.js";

const LINES: readonly Line[] = [
  { title: "request accepted, in NATS", unit: "us CPU" },
  { title: "request worked off, in NATS", unit: "us CPU" },
  { title: "requests accepted, in NATS", unit: "1/s", better: "more" },
  { title: "requests worked off, in NATS", unit: "1/s", better: "more" },
];

/** The figures of the backend in NATS, and of its client alone. */
export const networkNatsScenario: Scenario = {
  id: "network-nats",
  lines: LINES,
  rounds: 3,
  async prepare(side) {
    if (side === "hooks" || !(await hasNats()))
      return () => Promise.resolve(LINES.map(() => Number.NaN));
    const figures = side === "framework" ? natsFigures : bareNatsFigures;
    await figures();
    return figures;
  },
};
