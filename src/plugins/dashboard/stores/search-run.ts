import type { SearchBody } from "../protocol/http-bodies.js";
import type { ReadableRun } from "./board-runs.js";
import { MAX_HITS, TextSearch } from "../protocol/text-search.js";
import { entriesOf } from "./whole-run.js";

/** Maximum number of hits of one run in a search of several runs. */
const MOST_OF_ONE = 5;
/** Maximum number of entries that a search of several runs reads. */
const MAX_READ = 100_000;

/** Finds a text in a run. */
export async function searchRun(run: ReadableRun, text: string): Promise<SearchBody> {
  const search = new TextSearch(text);
  for await (const entry of entriesOf(run)) if (search.isFull(run.summary.runId, entry)) break;
  return search.body();
}

/**
 * Finds a text in several runs, with at most five hits in each. `read` returns `undefined` for a
 * removed run.
 */
export async function searchRuns(
  runIds: readonly string[],
  text: string,
  read: (runId: string) => Promise<ReadableRun | undefined>,
): Promise<SearchBody> {
  const search = new TextSearch(text);
  let entries = 0;
  for (const runId of runIds) {
    if (entries > MAX_READ || search.hits === MAX_HITS) return search.body(true);
    const run = await read(runId);
    if (run === undefined) continue;
    entries += run.n + 1;
    const most = Math.min(MAX_HITS, search.hits + MOST_OF_ONE);
    for await (const entry of entriesOf(run)) if (search.isFull(runId, entry, most)) break;
  }
  return search.body();
}
