import type { JSX } from "preact";
import type { RunSummary, RunSums } from "../../../src/contracts/run-store.js";
import { counted, formatCost, formatDuration } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { runMs, runName } from "../lib/run-words.js";
import { useBoard } from "../stores/board.js";
import { Facts } from "./facts.js";

/** Number of bars of the last runs. */
const BARS = 60;
/** Height of the longest and of the shortest bar in pixels. */
const HIGHEST = 58;
const LOWEST = 4;

export interface RunsTotalsProps {
  /** The newest runs. */
  readonly runs: readonly RunSummary[];
  /** The number of all runs. */
  readonly total: number;
  readonly sums: RunSums;
}

/** Sums of runs, and the durations of the last runs as bars. */
export function RunsTotals({ runs, total, sums }: RunsTotalsProps): JSX.Element {
  const { clock } = useBoard();
  const nowMs = clock.seconds.value;
  const ended = runs.filter(({ endedAt }) => endedAt !== undefined);
  const { done = 0, failed = 0, stopped = 0, interrupted = 0 } = sums.states;
  const all = done + failed + stopped + interrupted;
  const times = ended.map((run) => runMs(run, nowMs)).sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)];
  const [[currency, cost] = [], ...others] = Object.entries(sums.cost);
  return (
    <section class="card totals" aria-label="The last runs">
      <Facts
        isBig
        facts={[
          ["here", counted(total, "run")],
          ["succeeded", all === 0 ? undefined : `${((done / all) * 100).toFixed(1)} %`],
          // Amounts of several currencies have no sum.
          [
            "cost",
            cost === undefined || others.length > 0
              ? undefined
              : formatCost(cost, currency === "" ? undefined : currency),
          ],
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
        // The square root keeps short runs visible next to long ones.
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
