import type { RunQuery, RunStore, RunSummary, RunSums } from "../../../contracts/run-store.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { addedCost } from "../protocol/run-data.js";

export type ListedRuns = Awaited<ReturnType<RunStore["list"]>>;

/** The default page size. */
const PAGE = 50;

/** Returns whether a summary matches a query. */
function fitsQuery(run: RunSummary, query: RunQuery): boolean {
  const { state, ensemble, text, from, to, baseline, tags = {} } = query;
  return (
    (baseline !== true || run.baseline === true) &&
    (state === undefined || run.state === state) &&
    (ensemble === undefined || run.ensemble === ensemble) &&
    (from === undefined || Date.parse(run.startedAt) >= Date.parse(from)) &&
    (to === undefined || Date.parse(run.startedAt) <= Date.parse(to)) &&
    Object.entries(tags).every(([name, value]) => run.tags[name] === value) &&
    (text === undefined || shownTexts(run).includes(text.toLowerCase()))
  );
}

/** Returns the texts that a query searches, in lower case. */
export function shownTexts({
  runId,
  ensemble,
  workflow,
  state,
  inputs,
  tags,
  error,
}: RunSummary): string {
  return JSON.stringify([runId, ensemble, workflow, state, inputs, tags, error]).toLowerCase();
}

/**
 * Returns whether a run comes after a position. Later runs are first. Runs with the same start are
 * in descending order of their ids.
 */
function isBehind(run: RunSummary, startedAt: string, runId: string): boolean {
  const [mine, other] = [Date.parse(run.startedAt), Date.parse(startedAt)];
  return mine < other || (mine === other && run.runId < runId);
}

/** Compares the positions of two runs in a list, for sorting. */
export function comparePlaces(a: RunSummary, b: RunSummary): number {
  return isBehind(b, a.startedAt, a.runId) ? -1 : 1;
}

/** A checked query. */
export interface CheckedQuery extends RunQuery {
  readonly limit: number;
  /** The end of the previous page. */
  readonly cursor: readonly [startedAt: string, runId: string] | undefined;
}

/**
 * Checks a query.
 * @throws ValidationError for an invalid cursor, a limit that is not an integer from 1 to 1,000,
 * and invalid instants.
 */
export function checkRunQuery(query: RunQuery): CheckedQuery {
  const { limit = PAGE, before } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
    throw new ValidationError(
      `The limit of a list of runs must be 1 to 1,000, got: ${preview(limit)}`,
    );
  for (const name of ["from", "to"] as const) {
    const time = query[name];
    if (time !== undefined && Number.isNaN(Date.parse(time)))
      throw new ValidationError(
        `'${name}' of a list of runs must be an ISO instant, got: ${preview(time)}`,
      );
  }
  return { ...query, limit, cursor: before === undefined ? undefined : readCursor(before) };
}

/**
 * Returns one page of a list, with the sums of all matching runs.
 * @throws ValidationError like {@link checkRunQuery}.
 */
export function pageOfRuns(runs: Iterable<RunSummary>, query: RunQuery): ListedRuns {
  const { limit, cursor } = checkRunQuery(query);
  const fitting = [...runs].filter((run) => fitsQuery(run, query)).sort(comparePlaces);
  const rest = cursor === undefined ? fitting : fitting.filter((run) => isBehind(run, ...cursor));
  return {
    ...cutPage(rest, limit),
    total: fitting.length,
    sums: sumsOf(
      fitting.map(({ state, totals: { currency = "", ...totals } }) => ({
        ...totals,
        state,
        currency,
        runs: 1,
      })),
    ),
  };
}

/** Returns the first `limit` runs, and the start of the next page. */
export function cutPage(
  rest: readonly RunSummary[],
  limit: number,
): Pick<ListedRuns, "runs" | "next"> {
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const isCut = last !== undefined && rest.length > limit;
  return { runs: page, ...(isCut && { next: `${last.startedAt}/${last.runId}` }) };
}

/** Totals of runs with one state and one currency. */
export interface RunTotals extends Omit<RunSummary["totals"], "currency"> {
  readonly state: RunSummary["state"];
  /** The currency. Empty if there is none. */
  readonly currency: string;
  readonly runs: number;
}

/** Returns the sums of totals. */
export function sumsOf(groups: readonly RunTotals[]): RunSums {
  const states: Partial<Record<RunSummary["state"], number>> = {};
  const cost: Record<string, number> = {};
  const sums = { inputTokens: 0, outputTokens: 0, unknownCalls: 0, calls: 0, tools: 0 };
  for (const group of groups) {
    states[group.state] = (states[group.state] ?? 0) + group.runs;
    const sum = addedCost(cost[group.currency] ?? 0, group.cost);
    if (sum > 0) cost[group.currency] = sum;
    sums.inputTokens += group.inputTokens;
    sums.outputTokens += group.outputTokens;
    sums.unknownCalls += group.unknownCalls;
    sums.calls += group.calls;
    sums.tools += group.tools;
  }
  return { ...sums, cost, states };
}

function readCursor(before: string): readonly [startedAt: string, runId: string] {
  const slash = before.indexOf("/");
  const startedAt = before.slice(0, slash);
  if (slash < 0 || Number.isNaN(Date.parse(startedAt)))
    throw new ValidationError(`No page of a list of runs ends at ${preview(before)}`, {
      hint: "Pass the `next` of the page before.",
    });
  return [startedAt, before.slice(slash + 1)];
}
