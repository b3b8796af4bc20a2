import { useEffect, useRef, useState } from "preact/hooks";
import type { BarsBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { Bar } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import { ApiError } from "../../api.js";
import { barsOfRow } from "../../lib/timeline/rows.js";
import { useBoard } from "../../stores/board.js";
import type { OpenRun } from "../../stores/open-run-store.js";

/** Runs with more tasks have no bars in their state. */
const MOST_BAR_TASKS = 2_000;
/** Number of rows that are fetched together. */
const CHUNK = 200;
/** The interval at which rows of a run in progress are fetched again. */
const AGAIN_MS = 1_500;

/** Returns the known bars of a task. */
export type BarsOf = (taskId: string) => readonly Bar[];

const NONE: readonly Bar[] = [];

/**
 * Returns the bars of tasks from the state of the run. If a run has too many tasks, fetches the
 * bars of the visible rows.
 */
export function useBars(run: OpenRun, visibleIds: readonly string[]): BarsOf {
  const { tasks } = run.view;
  const isLarge = tasks.size > MOST_BAR_TASKS;
  const fetched = useFetchedBars(run, isLarge ? visibleIds : NO_IDS);
  return isLarge
    ? (taskId) => fetched.get(taskId) ?? NONE
    : (taskId) => tasks.get(taskId)?.bars ?? NONE;
}

const NO_IDS: readonly string[] = [];

/** Returns the positions of the tasks in the order of the state. The server uses the same order. */
function usePlaces({ runId, view }: OpenRun, isWanted: boolean): ReadonlyMap<string, number> {
  const cache = useRef({ key: "", places: new Map<string, number>() });
  const key = isWanted ? `${runId} ${view.tasks.size}` : "";
  if (cache.current.key !== key) {
    const ids = isWanted ? [...view.tasks.keys()] : [];
    cache.current = { key, places: new Map(ids.map((id, place) => [id, place])) };
  }
  return cache.current.places;
}

function useFetchedBars(
  run: OpenRun,
  visibleIds: readonly string[],
): ReadonlyMap<string, readonly Bar[]> {
  const { api, clock } = useBoard();
  const places = usePlaces(run, visibleIds.length > 0);
  const [bars, setBars] = useState<ReadonlyMap<string, readonly Bar[]>>(new Map());
  const had = useRef(new Map<string, { readonly n: number; readonly at: number }>());
  const { n } = run.view;
  const chunks = [...new Set(visibleIds.map((id) => Math.floor((places.get(id) ?? 0) / CHUNK)))];
  const now = clock.now();
  const wanted = chunks.filter((chunk) => {
    const before = had.current.get(`${run.runId} ${chunk}`);
    return before === undefined || (before.n !== n && now - before.at >= AGAIN_MS);
  });
  useEffect(() => {
    const path = `/api/runs/${encodeURIComponent(run.runId)}/bars`;
    for (const chunk of wanted) {
      had.current.set(`${run.runId} ${chunk}`, { n, at: now });
      api
        .get<BarsBody>(`${path}?from=${chunk * CHUNK}&to=${(chunk + 1) * CHUNK}`)
        .then(({ rows }) =>
          setBars((known) => {
            const next = new Map(known);
            for (const row of rows) next.set(row.taskId, barsOfRow(row.bars));
            return next;
          }),
        )
        .catch((error: unknown) => {
          if (!(error instanceof ApiError)) throw error;
          had.current.delete(`${run.runId} ${chunk}`); // tried again with the next frame
        });
    }
  });
  return bars;
}
