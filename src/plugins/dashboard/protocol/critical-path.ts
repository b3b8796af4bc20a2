import type { RunData, BoardTask } from "./run-data.js";
import { loopOf } from "./run-plan.js";

/**
 * Marks the chain of tasks that determines the duration of the run. The chain starts at the task
 * that ended last. Each next task is the dependency that ended last. Tasks of loops and delegated
 * tasks are parts of other tasks. A run of a state machine has no such chain and keeps the marks of
 * the plan.
 */
export function markCriticalPath(d: RunData): void {
  if (d.plan?.graphEdges !== undefined) return;
  const whole = [...d.tasks.values()].filter(
    (t) => t.endMs !== undefined && t.type !== "delegated" && loopOf(d, t) === undefined,
  );
  for (const t of d.tasks.values()) {
    if (t.critical) d.touched(t.id);
    t.critical = false;
  }
  const seen = new Set<BoardTask>();
  const tasks = whole.filter(({ type }) => type !== "manager" && type !== "graph-end");
  let t = endedLast(tasks.length === 0 ? whole : tasks);
  while (t !== undefined && !seen.has(t)) {
    seen.add(t);
    t.critical = true;
    d.touched(t.id);
    t =
      endedLast(endedTasks(d, [...t.deps, ...t.after])) ??
      endedLast(endedTasks(d, [t.parent ?? ""]));
  }
}

function endedTasks(d: RunData, ids: readonly string[]): readonly BoardTask[] {
  return ids.flatMap((id) => d.tasks.get(id) ?? []).filter(({ endMs }) => endMs !== undefined);
}

/** Returns the task that ended last. Of tasks with the same end, returns the first. */
function endedLast(tasks: readonly BoardTask[]): BoardTask | undefined {
  let last: BoardTask | undefined;
  for (const t of tasks) if ((t.endMs ?? -1) > (last?.endMs ?? -1)) last = t;
  return last;
}
