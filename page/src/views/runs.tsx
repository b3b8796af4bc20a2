import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { RunSummary, RunSums } from "../../../src/contracts/run-store.js";
import { parseRunFilter } from "../../../src/plugins/dashboard/protocol/run-filter.js";
import { Empty } from "../components/empty.js";
import { Icon } from "../components/icon.js";
import { LocalRuns } from "../components/local-runs.js";
import { Notice } from "../components/notice.js";
import { QueryBox } from "../components/query-box.js";
import { RunsTable } from "../components/runs-table.js";
import { RunsTotals } from "../components/runs-totals.js";
import { SavedFilters } from "../components/saved-filters.js";
import { Segments } from "../components/segments.js";
import { useKeys } from "../hooks/use-keys.js";
import type { ApiError } from "../api.js";
import { errorWords } from "../lib/api-words.js";
import { counted, formatCost, formatCount } from "../lib/format.js";
import { hrefOf } from "../lib/route.js";
import { sumsOf, withState } from "../lib/run-search.js";
import { useBoard, type Board } from "../stores/board.js";
import { NoRuns } from "./states.js";

const STATES = ["all", "running", "waiting", "failed"] as const;
/** Number of runs in a comparison. */
const MOST_CHOSEN = 2;

/** The runs that match a filter, newest first, with the sums of all matching runs. */
export function RunsView(): JSX.Element {
  const { runs, foundRuns, localRuns, route } = useBoard();
  const [place, setPlace] = useState(-1);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const input = useRef<HTMLInputElement>(null);
  const filter = route.current.value.query["q"] ?? "";
  useEffect(() => {
    foundRuns.find(filter);
    return () => foundRuns.find(undefined);
  }, [filter]);
  const list = useShown(filter);
  const onFilter = (q: string): void => route.patch({ q });
  const move = (step: number): void =>
    setPlace(Math.min(list.runs.length - 1, Math.max(0, place + step)));
  const here = list.runs[place];
  const choose = (runId: string): void =>
    setChosen(
      chosen.includes(runId)
        ? chosen.filter((id) => id !== runId)
        : [...chosen, runId].slice(-MOST_CHOSEN),
    );
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    x: here && (() => choose(here.runId)),
    f: () => input.current?.focus(),
    Enter: here && (() => route.go(hrefOf(["runs", here.runId]))),
  });
  if (filter === "" && runs.isKnown.value && list.total === 0 && localRuns.list.value.length === 0)
    return <NoRuns />;
  return (
    <main class="page">
      <RunsHead chosen={chosen} />
      <LocalRuns />
      {list.runs.length > 0 && <RunsTotals runs={list.runs} total={list.total} sums={list.sums} />}
      <div class="row wrap filter-row">
        <StateChoice filter={filter} states={list.states} onFilter={onFilter} />
        <QueryBox {...{ filter, onFilter, input }} />
        <span class="grow" />
        <span class="faint hide-s">J K to move, Enter to open, X to select for comparing</span>
      </div>
      <SavedFilters filter={filter} onFilter={onFilter} />
      {list.error !== undefined && <Notice kind="failed">{errorWords(list.error)}</Notice>}
      {list.runs.length > 0 && (
        <RunsTable {...{ runs: list.runs, place, chosen, filter, onFilter }} onChoose={choose} />
      )}
      {list.runs.length === 0 && list.isCurrent && (
        <Empty icon="search" title="No run fits the filter">
          <button type="button" class="btn" onClick={() => onFilter("")}>
            Clear the filter
          </button>
        </Empty>
      )}
      <Sums list={list} />
    </main>
  );
}

function RunsHead({ chosen }: { readonly chosen: readonly string[] }): JSX.Element {
  const { session, env } = useBoard();
  const [a, b] = [...chosen].reverse(); // the older run is usually selected last
  return (
    <div class="row">
      <h1 class="grow">Runs</h1>
      {chosen.length === 1 && <span class="muted">Select another run to compare</span>}
      {b !== undefined && (
        <a class="btn main" href={hrefOf(["compare"], { a, b })}>
          <Icon name="compare" /> Compare
        </a>
      )}
      {env.isSaved !== true && session.may("operator") && (
        <a class={b === undefined ? "btn main" : "btn"} href={hrefOf(["ensembles"])}>
          <Icon name="play" /> Start a run
        </a>
      )}
    </div>
  );
}

interface StateChoiceProps {
  readonly filter: string;
  readonly states: RunSums["states"];
  readonly onFilter: (filter: string) => void;
}

function StateChoice({ filter, states, onFilter }: StateChoiceProps): JSX.Element {
  const { state } = parseRunFilter(filter).query;
  const all = Object.values(states).reduce((sum, count) => sum + count, 0);
  return (
    <Segments
      label="State"
      selected={STATES.find((name) => name === state) ?? (state === undefined ? "all" : "")}
      onSelect={(name) => onFilter(withState(filter, name === "all" ? undefined : name))}
      options={STATES.map((id) => ({
        id,
        title: `${id.slice(0, 1).toUpperCase()}${id.slice(1)}`,
        extra: (id === "all" ? all : (states[id] ?? 0)).toLocaleString("en"),
      }))}
    />
  );
}

interface ShownRuns {
  readonly runs: readonly RunSummary[];
  readonly total: number;
  readonly sums: RunSums;
  /** Whether the sums include all matching runs, not only the shown runs. */
  readonly isSumOfAll: boolean;
  readonly states: RunSums["states"];
  readonly hasMore: boolean;
  /** Whether the answer to the current filter has arrived. */
  readonly isCurrent: boolean;
  readonly error: ApiError | undefined;
}

/** Returns the found runs, with the runs that the program has sent since. */
function useShown(filter: string): ShownRuns {
  const { runs, foundRuns } = useBoard();
  const found = foundRuns.current.value;
  const isCurrent = found?.filter === filter;
  const rows = shownRuns(runs, isCurrent ? found.runs : [], filter === "");
  const sums = (isCurrent ? found.sums : undefined) ?? sumsOf(rows);
  return {
    runs: rows,
    total: Math.max(isCurrent ? found.total : 0, rows.length),
    sums,
    isSumOfAll: isCurrent && found.sums !== undefined,
    states: (isCurrent ? found.states : undefined) ?? sums.states,
    hasMore: isCurrent && found.hasMore,
    isCurrent: isCurrent && found.error === undefined,
    error: isCurrent ? found.error : undefined,
  };
}

/**
 * Returns the latest state of each run. Without a filter, includes runs that the program has sent
 * in the meantime.
 */
function shownRuns(
  { list, summaryOf }: Board["runs"],
  found: readonly RunSummary[],
  hasAll: boolean,
): readonly RunSummary[] {
  const known = new Set(found.map(({ runId }) => runId));
  const newest = found[0]?.startedAt ?? "";
  const later = list.value.filter(
    ({ runId, startedAt }) => hasAll && !known.has(runId) && startedAt >= newest,
  );
  return [...later, ...found.map((run) => summaryOf(run.runId) ?? run)];
}

/** The number of shown runs, and the usage of all matching runs. */
function Sums({ list }: { readonly list: ShownRuns }): JSX.Element {
  const { foundRuns } = useBoard();
  const { sums, total, runs, isSumOfAll, hasMore } = list;
  const costs = Object.entries(sums.cost)
    .map(([currency, cost]) => `${formatCost(cost, currency === "" ? undefined : currency)} · `)
    .join("");
  const tokens = formatCount(sums.inputTokens + sums.outputTokens);
  const of = isSumOfAll && runs.length < total ? `all ${formatCount(total)}` : "these";
  return (
    <p class="row wrap faint sums">
      <span>
        {`${runs.length} of ${total} shown · ${costs}${tokens} tokens in ${of}`}
        {sums.unknownCalls > 0 && ` · ${counted(sums.unknownCalls, "call")} without reported usage`}
      </span>
      {hasMore && (
        <button type="button" class="btn" onClick={() => foundRuns.more()}>
          Older runs
        </button>
      )}
    </p>
  );
}
