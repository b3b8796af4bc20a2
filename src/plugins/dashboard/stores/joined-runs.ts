import type { LogEntry, RunQuery, RunStore, RunSums } from "../../../contracts/run-store.js";
import { RunStoreError } from "../../../contracts/state-errors.js";
import { addedCost } from "../protocol/run-data.js";
import { checkRunQuery, comparePlaces, cutPage, type ListedRuns } from "./run-query.js";

/**
 * Returns the runs of several stores of this package, for reading. If two stores have a run with
 * the same id, the first store shows it. Totals and sums count it twice. Every write throws a
 * RunStoreError.
 */
export function joinedRuns(stores: readonly RunStore[]): RunStore {
  return {
    append: refuseJoined,
    put: refuseJoined,
    remove: refuseJoined,
    list: (query) => joinedPage(stores, query),
    async get(runId) {
      for (const store of stores) {
        const run = await store.get(runId);
        if (run !== undefined) return run;
      }
      return undefined;
    },
    async read(runId, after, limit): Promise<readonly LogEntry[]> {
      for (const store of stores)
        if ((await store.get(runId)) !== undefined) return store.read(runId, after, limit);
      return [];
    },
    async trace(runId): Promise<string | undefined> {
      for (const store of stores)
        if ((await store.get(runId)) !== undefined) return store.trace?.(runId);
      return undefined;
    },
    async dispose() {
      for (const store of stores) await store.dispose?.();
    },
  };
}

function refuseJoined(): Promise<never> {
  return Promise.reject(
    new RunStoreError("These runs are read-only", {
      isReadOnly: true,
      hint: "Write to a separate store: RunStore.file or RunStore.sql.",
    }),
  );
}

async function joinedPage(stores: readonly RunStore[], query: RunQuery): Promise<ListedRuns> {
  const { limit } = checkRunQuery(query);
  const pages = await Promise.all(stores.map(async (store) => store.list(query)));
  const all = pages.flatMap(({ runs }) => runs);
  const first = all.filter((run, i) => all.findIndex(({ runId }) => runId === run.runId) === i);
  const isMore = pages.some(({ next }) => next !== undefined);
  const sorted = first.sort(comparePlaces);
  const page = cutPage(sorted, limit);
  const last = sorted.at(-1);
  return {
    // If a store has more runs, the page ends with the last run whose order is certain.
    ...(page.next === undefined && isMore && last !== undefined
      ? { ...page, next: `${last.startedAt}/${last.runId}` }
      : page),
    total: pages.reduce((sum, { total }) => sum + total, 0),
    sums: addedSums(pages.flatMap(({ sums }) => sums ?? [])),
  };
}

function addedSums(all: readonly RunSums[]): RunSums {
  const sum = (name: Exclude<keyof RunSums, "cost" | "states">): number =>
    all.reduce((total, sums) => total + sums[name], 0);
  const merged = (records: readonly Readonly<Record<string, number>>[]): Record<string, number> => {
    const totals: Record<string, number> = {};
    for (const [name, value] of records.flatMap((record) => Object.entries(record)))
      totals[name] = addedCost(totals[name] ?? 0, value);
    return totals;
  };
  return {
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    unknownCalls: sum("unknownCalls"),
    calls: sum("calls"),
    tools: sum("tools"),
    cost: merged(all.map(({ cost }) => cost)),
    states: merged(all.map(({ states }) => states)),
  };
}
