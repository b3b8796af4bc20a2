import type { RunFeed } from "../feed/run-feed.js";
import type { RunStore } from "../../../contracts/run-store.js";
import { pageOfRuns } from "./run-query.js";

/**
 * Returns the runs in the memory of a feed as a read-only store. Only the feed writes. `append` and
 * `put` do nothing.
 */
export function feedRuns(feed: RunFeed): RunStore {
  return {
    append: () => undefined,
    put: () => undefined,
    list: (query) =>
      pageOfRuns(
        feed.logs.map(({ summary }) => summary),
        query,
      ),
    get: (runId) => feed.get(runId)?.summary,
    read(runId, after, limit) {
      const log = feed.get(runId);
      if (log === undefined) return [];
      const count = Math.max(0, Math.min(limit, log.n - after));
      return Array.from({ length: count }, (_, i) => log.entry(after + 1 + i, "full"));
    },
    remove(runId) {
      feed.remove(runId);
    },
  };
}
