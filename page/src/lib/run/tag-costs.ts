import type { RunSummary } from "../../../../src/contracts/run-store.js";
import { costLines, type CostLine } from "./cost-rows.js";

/**
 * Returns, for each tag of a run, the sums of the runs with the same tag, including the run itself.
 */
export function tagCosts(
  tags: Readonly<Record<string, string>>,
  own: RunSummary,
  runs: readonly RunSummary[],
): readonly CostLine[] {
  const others = runs.filter(({ runId }) => runId !== own.runId);
  const rows = Object.entries(tags).map(([key, value]) => {
    const row = {
      name: `${key}=${value}`,
      inputTokens: 0,
      outputTokens: 0,
      unknownCalls: 0,
      cost: 0,
      calls: 0,
    };
    for (const run of [own, ...others]) {
      if (run.tags[key] !== value) continue;
      row.inputTokens += run.totals.inputTokens;
      row.outputTokens += run.totals.outputTokens;
      row.unknownCalls += run.totals.unknownCalls;
      row.cost += run.totals.cost;
      row.calls += run.totals.calls;
    }
    return row;
  });
  return costLines(rows);
}
