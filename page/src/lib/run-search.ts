import type { RunSummary, RunSums } from "../../../src/contracts/run-store.js";
import {
  formatRunFilter,
  parseRunFilter,
  type FilterQuery,
} from "../../../src/plugins/dashboard/protocol/run-filter.js";

/** Returns the path that lists the runs of a filter. */
export function runsPath(query: FilterQuery, limit: number, before?: string): string {
  return `/api/runs?${conditionsOf(query, { limit: String(limit), before })}`;
}

/** Returns the path that searches a text in the runs of the rest of a filter. */
export function searchPath({ text = "", ...query }: FilterQuery): string {
  return `/api/search?${conditionsOf(query, { q: text })}`;
}

function conditionsOf(
  { tags = {}, ...fields }: FilterQuery,
  more: Readonly<Record<string, string | undefined>>,
): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...more, ...fields }))
    if (value !== undefined) search.set(name, String(value));
  for (const [name, value] of Object.entries(tags)) search.append("tag", `${name}:${value}`);
  return search;
}

/** One condition of a filter, and the filter without it. */
export interface FilterPart {
  readonly name: string;
  readonly without: string;
}

/** Returns the conditions of a filter except its text. */
export function filterParts(filter: string): readonly FilterPart[] {
  const { query } = parseRunFilter(filter);
  const { tags = {}, text: _, ...fields } = query;
  return [
    ...Object.entries(fields).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [
            {
              name: `${name}: ${shortInstant(String(value))}`,
              without: formatRunFilter({ ...query, [name]: undefined }),
            },
          ],
    ),
    ...Object.entries(tags).map(([name, value]) => ({
      name: `${name}=${value}`,
      without: formatRunFilter({
        ...query,
        tags: Object.fromEntries(Object.entries(tags).filter(([other]) => other !== name)),
      }),
    })),
  ];
}

/** Returns the filter with another state. `undefined`: all states. */
export function withState(filter: string, state: RunSummary["state"] | undefined): string {
  return formatRunFilter({ ...parseRunFilter(filter).query, state });
}

/** Returns the filter with an additional tag. */
export function withTag(filter: string, name: string, value: string): string {
  const { query } = parseRunFilter(filter);
  return formatRunFilter({ ...query, tags: { ...query.tags, [name]: value } });
}

/** Computes sums of runs, if the program returns none. */
export function sumsOf(runs: readonly RunSummary[]): RunSums {
  const sums = { inputTokens: 0, outputTokens: 0, unknownCalls: 0, calls: 0, tools: 0 };
  const cost: Record<string, number> = {};
  const states: Partial<Record<RunSummary["state"], number>> = {};
  for (const { state, totals } of runs) {
    // The keys of `sums`.
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += totals[name];
    if (totals.cost > 0) {
      const currency = totals.currency ?? "";
      cost[currency] = (cost[currency] ?? 0) + totals.cost;
    }
    states[state] = (states[state] ?? 0) + 1;
  }
  return { ...sums, cost, states };
}

/** Returns an instant without its time if it is the beginning or the end of a day. */
function shortInstant(text: string): string {
  return text.replace(/T(?:00:00:00.000|23:59:59.999)Z$/, "");
}
