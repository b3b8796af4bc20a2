import { useEffect, useRef } from "preact/hooks";
import {
  createRunState,
  type NumberedReducer,
} from "../../../src/plugins/dashboard/protocol/run-state.js";
import { useBoard } from "../stores/board.js";
import type { OpenRun } from "../stores/open-run-store.js";

/** The state of a run at an instant. */
export interface RunAt {
  /** `undefined` until the log has arrived. */
  readonly run: OpenRun | undefined;
  /** Number of the last entry up to this instant. -1 before the first entry. */
  readonly n: number;
  /** Whether the end of the log is missing, because it is too long. */
  readonly isCut: boolean;
}

interface Kept {
  readonly runId: string;
  readonly reducer: NumberedReducer;
  /** Number of entries in the state. */
  place: number;
  tick: number;
}

/**
 * Returns the state of a run `atMs` milliseconds after its start, from its log. `undefined`: the
 * current state.
 */
export function useRunAt(run: OpenRun, atMs: number | undefined): RunAt | undefined {
  const { runLog } = useBoard();
  const kept = useRef<Kept | undefined>(undefined);
  const isWanted = atMs !== undefined;
  useEffect(() => {
    if (!isWanted) return undefined;
    runLog.follow(run.runId);
    return () => runLog.follow(undefined);
  }, [run.runId, isWanted]);
  const log = runLog.current.value;
  if (atMs === undefined) return undefined;
  if (log === undefined || log.runId !== run.runId || log.state === "loading")
    return { run: undefined, n: -1, isCut: false };
  const until = Date.parse(run.view.summary.startedAt) + atMs;
  let end = 0; // number of shown entries
  for (const { at } of log.entries) {
    if (Date.parse(at) > until) break;
    end++;
  }
  // The plan counts as part of the beginning, even if it was written shortly after.
  end = Math.max(end, log.entries.findIndex(({ type }) => type === "run_planned") + 1);
  // Forward: applies the entries in between. Backward: begins again with the first entry.
  const before = kept.current;
  const canGoOn = before?.runId === run.runId && before.place <= end;
  const state: Kept = canGoOn
    ? before
    : { runId: run.runId, reducer: createRunState(), place: 0, tick: before?.tick ?? 0 };
  for (const entry of log.entries.slice(state.place, end)) state.reducer.apply(entry);
  state.place = end;
  state.tick++;
  kept.current = state;
  const { view } = state.reducer;
  const shown: OpenRun = { ...run, view, tick: state.tick, untilMs: until };
  return { run: shown, n: view.n, isCut: log.isCut };
}
