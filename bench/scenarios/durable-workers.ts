import type { Scenario } from "../harness/scenario.js";
import { dropSpread, hasPostgres, spreadOver } from "../work/durable-spread.js";

const WORKERS = [1, 2, 4] as const;
const LINES = WORKERS.flatMap((workers) => [
  { title: `${workers} worker${workers === 1 ? "" : "s"}, calls of 2 s`, unit: "items/s" },
  { title: "the same, of what the calls allow", unit: "%", goal: 85, better: "more" } as const,
]);

/**
 * Several workers: a map-reduce on PostgreSQL with distributed map tasks. Empty without a server.
 */
export const durableWorkersScenario: Scenario = {
  id: "durable-workers",
  lines: LINES,
  rounds: 1,
  async prepare(side) {
    const isMeasured = side === "framework" && (await hasPostgres());
    return async () => {
      if (!isMeasured) return LINES.map(() => Number.NaN);
      const values: number[] = [];
      try {
        for (const workers of WORKERS) {
          const { itemsPerSecond, efficiency } = await spreadOver(workers);
          values.push(itemsPerSecond, efficiency);
        }
      } finally {
        await dropSpread();
      }
      return values;
    };
  },
};
