import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { RunSummary } from "../../../src/contracts/run-store.js";
import { Empty } from "../components/empty.js";
import { RunsTable } from "../components/runs-table.js";
import { RunsTotals } from "../components/runs-totals.js";
import { Segments } from "../components/segments.js";
import { useKeys } from "../hooks/use-keys.js";
import { formatCost, formatCount } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { useBoard } from "../stores/board.js";
import { NoRuns } from "./states.js";

const FILTERS = ["all", "running", "waiting", "failed"] as const;
type Filter = (typeof FILTERS)[number];

const fits = (filter: Filter, { state }: RunSummary): boolean =>
  filter === "all" || state === filter || (filter === "failed" && state === "interrupted");

/** The runs, newest first, with sums of those that are shown. */
export function RunsView(): JSX.Element {
  const { runs, route } = useBoard();
  const [place, setPlace] = useState(-1);
  const list = runs.list.value;
  const filter = FILTERS.find((name) => name === route.current.value.query["state"]) ?? "all";
  const shown = list.filter((run) => fits(filter, run));
  const move = (step: number): void =>
    setPlace(Math.min(shown.length - 1, Math.max(0, place + step)));
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: shown[place] && (() => route.go(hrefOf(["runs", shown[place]?.runId ?? ""]))),
  });
  if (runs.isKnown.value && list.length === 0)
    return (
      <main class="page">
        <h1>Runs</h1>
        <NoRuns />
      </main>
    );
  return (
    <main class="page">
      <h1>Runs</h1>
      {list.length > 0 && <RunsTotals runs={list} />}
      <div class="row wrap filter-row">
        <Segments
          label="State"
          selected={filter}
          onSelect={(state) => route.patch({ state: state === "all" ? undefined : state })}
          options={FILTERS.map((id) => ({
            id,
            title: `${id.slice(0, 1).toUpperCase()}${id.slice(1)}`,
            extra: list.filter((run) => fits(id, run)).length,
          }))}
        />
        <span class="grow" />
        <span class="faint hide-s">J K to move, Enter to open</span>
      </div>
      {shown.length > 0 && <RunsTable runs={shown} place={place} />}
      {shown.length === 0 && list.length > 0 && (
        <Empty title={`No run is ${filter}`}>
          <p>{list.length} runs are there without the filter.</p>
          <button type="button" class="btn" onClick={() => route.patch({ state: undefined })}>
            Clear the filter
          </button>
        </Empty>
      )}
      <Sums shown={shown} />
    </main>
  );
}

/** How many are shown, and what they have used. */
function Sums({ shown }: { readonly shown: readonly RunSummary[] }): JSX.Element {
  const { runs } = useBoard();
  const total = runs.total.value;
  const tokens = shown.reduce(
    (sum, { totals }) => sum + totals.inputTokens + totals.outputTokens,
    0,
  );
  const unknown = shown.reduce((sum, { totals }) => sum + totals.unknownCalls, 0);
  const hasMore = runs.list.value.length < total;
  return (
    <p class="row wrap faint sums">
      <span>
        {`${shown.length} of ${total} shown · ${costsOf(shown)}${formatCount(tokens)} tokens in these`}
        {unknown > 0 && ` · ${unknown} calls without reported usage`}
      </span>
      {hasMore && (
        <button type="button" class="btn" onClick={() => void runs.more().catch(() => undefined)}>
          Older runs
        </button>
      )}
    </p>
  );
}

/** Sums by currency, each with ` · ` behind it. */
function costsOf(runs: readonly RunSummary[]): string {
  const sums = new Map<string | undefined, number>();
  for (const { totals } of runs)
    if (totals.cost > 0) sums.set(totals.currency, (sums.get(totals.currency) ?? 0) + totals.cost);
  return [...sums].map(([currency, cost]) => `${formatCost(cost, currency)} · `).join("");
}
