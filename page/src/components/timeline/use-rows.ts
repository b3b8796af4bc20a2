import { useMemo, useState } from "preact/hooks";
import { openRows, rowsByAgent, rowsByTask, type TimelineRow } from "../../lib/timeline/rows.js";
import type { OpenRun } from "../../stores/open-run-store.js";
import type { TimelineMode } from "./toolbar.js";

export interface TimelineRows {
  readonly rows: readonly TimelineRow[];
  /** Keys of rows with children. */
  readonly parents: ReadonlySet<string>;
  readonly closed: ReadonlySet<string>;
  toggle(key: string): void;
}

/**
 * Returns the rows of a run. Computes them again when tasks were added, at most once per second.
 */
export function useRows(run: OpenRun, mode: TimelineMode, second: number): TimelineRows {
  const { tasks } = run.view;
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const all = useMemo(
    () => (mode === "task" ? rowsByTask(tasks.values()) : rowsByAgent(tasks.values())),
    [run.runId, tasks.size, mode, second],
  );
  const parents = useMemo(
    () =>
      new Set(all.flatMap(({ key, depth }, i) => ((all[i + 1]?.depth ?? 0) > depth ? [key] : []))),
    [all],
  );
  const rows = useMemo(() => openRows(all, closed), [all, closed]);
  return {
    rows,
    parents,
    closed,
    toggle: (key) =>
      setClosed((before) => {
        const next = new Set(before);
        if (!next.delete(key)) next.add(key);
        return next;
      }),
  };
}
