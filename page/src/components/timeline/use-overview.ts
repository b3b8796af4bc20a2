import { useEffect, useMemo } from "preact/hooks";
import { formatCount } from "../../lib/format.js";
import type { Span } from "../../lib/timeline/axis.js";
import { callTokens, tokenRate, type CallTokens } from "../../lib/timeline/token-rate.js";
import { useBoard } from "../../stores/board.js";
import type { OpenRun } from "../../stores/open-run-store.js";
import type { OverviewProps } from "./overview.js";

/** The log of longer runs is not fetched only for token rates. */
const MOST_ENTRIES = 10_000;
const PARTS = 90;

/** Returns tokens per second if they are known, otherwise the number of running tasks. */
export function useOverview(
  run: OpenRun,
  whole: Span,
  nowMs: number,
): Pick<OverviewProps, "title" | "detail" | "heights"> {
  const { runLog } = useBoard();
  const { view, runId } = run;
  const isShort = view.n <= MOST_ENTRIES;
  useEffect(() => {
    runLog.follow(isShort ? runId : undefined);
    return () => runLog.follow(undefined);
  }, [runId, isShort]);
  const log = runLog.current.value;
  const entries = log?.runId === runId && isShort ? log.entries : undefined;
  const startedAt = Date.parse(view.summary.startedAt);
  const calls = useMemo(
    () =>
      (entries ?? []).flatMap((entry): CallTokens[] => [callTokens(entry, startedAt) ?? []].flat()),
    [entries, startedAt],
  );
  if (calls.length > 0) {
    const { perSecond, peak, last } = tokenRate(calls, whole, PARTS);
    const detail = `peak ${formatCount(Math.round(peak))} · last ${formatCount(Math.round(last))}`;
    return { title: "Tokens per second", detail, heights: perSecond };
  }
  const heights = tasksAtWork(run, whole, nowMs);
  const most = heights.reduce((max, height) => Math.max(max, height), 0);
  return { title: "Tasks at work", detail: `at most ${most}`, heights };
}

function tasksAtWork(run: OpenRun, whole: Span, nowMs: number): readonly number[] {
  const changes = Array.from({ length: PARTS + 1 }, () => 0);
  const length = (whole.to - whole.from) / PARTS;
  const partOf = (at: number): number => Math.min(PARTS - 1, Math.floor(at / length));
  for (const { startMs, endMs = nowMs } of run.view.tasks.values()) {
    if (startMs === undefined) continue;
    const [first, end] = [partOf(startMs), partOf(Math.max(startMs, endMs)) + 1];
    changes[first] = (changes[first] ?? 0) + 1;
    changes[end] = (changes[end] ?? 0) - 1;
  }
  let count = 0;
  return changes.slice(0, PARTS).map((change) => (count += change));
}
