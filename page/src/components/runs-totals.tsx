import type { JSX } from "preact";
import type { RunSummary } from "../../../src/contracts/run-store.js";
import { counted, formatCost, formatDuration } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { runMs, runName } from "../lib/run-words.js";
import { useBoard } from "../stores/board.js";
import { Facts } from "./facts.js";

/** Bars of the last runs. */
const BARS = 60;
/** Pixels of the longest bar, and of the shortest. */
const HIGHEST = 58;
const LOWEST = 4;

/** Sums of runs, and their durations as bars. */
export function RunsTotals({ runs }: { readonly runs: readonly RunSummary[] }): JSX.Element {
  const { clock } = useBoard();
  const nowMs = clock.seconds.value;
  const ended = runs.filter(({ endedAt }) => endedAt !== undefined);
  const good = ended.filter(({ state }) => state === "done").length;
  const times = ended.map((run) => runMs(run, nowMs)).sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)];
  const currencies = new Set(
    runs.flatMap(({ totals }) => (totals.cost > 0 ? [totals.currency] : [])),
  );
  const cost = runs.reduce((sum, { totals }) => sum + totals.cost, 0);
  return (
    <section class="card totals" aria-label="The last runs">
      <Facts
        isBig
        facts={[
          ["here", counted(runs.length, "run")],
          [
            "succeeded",
            ended.length === 0 ? undefined : `${((good / ended.length) * 100).toFixed(1)} %`,
          ],
          // Amounts of several currencies have no sum.
          ["cost", currencies.size === 1 ? formatCost(cost, [...currencies][0]) : undefined],
          ["median time", median === undefined ? undefined : formatDuration(median)],
        ]}
      />
      <Bars runs={runs.slice(0, BARS).reverse()} nowMs={nowMs} />
    </section>
  );
}

function Bars({
  runs,
  nowMs,
}: {
  readonly runs: readonly RunSummary[];
  readonly nowMs: number;
}): JSX.Element {
  const longest = Math.max(1, ...runs.map((run) => runMs(run, nowMs)));
  return (
    <div class="grow bars" role="group" aria-label={`Durations of the last ${runs.length} runs`}>
      {runs.map((run) => {
        const ms = runMs(run, nowMs);
        // The root keeps short runs visible next to long ones.
        const height = Math.max(LOWEST, Math.round(Math.sqrt(ms / longest) * HIGHEST));
        const words = `${runName(run)}, ${run.state}, ${formatDuration(ms)}`;
        return (
          <a
            key={run.runId}
            href={hrefOf(["runs", run.runId])}
            class={`bar ${run.state}`}
            style={{ height: `${height}px` }}
            title={words}
            aria-label={words}
          />
        );
      })}
    </div>
  );
}
