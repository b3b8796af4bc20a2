import type { Bar, TaskState } from "../../../../src/plugins/dashboard/protocol/state-types.js";

/** The part of a task that a row uses. */
export type RowTask = Pick<TaskState, "id" | "role" | "parent" | "startMs" | "endMs" | "type">;

/** A row of the timeline. */
export interface TimelineRow {
  readonly key: string;
  /** The nesting depth of the task. 0 for tasks of the plan. */
  readonly depth: number;
  /** The tasks whose bars are in the row: one task, or tasks of an agent that do not overlap. */
  readonly taskIds: readonly string[];
  /** The role of an agent and the number of its tasks. Present only in the agent's first row. */
  readonly agent?: { readonly role: string; readonly tasks: number } | undefined;
}

/** Returns one row per task: tasks in their order, each followed by the tasks that it caused. */
export function rowsByTask(tasks: Iterable<RowTask>): readonly TimelineRow[] {
  const all = [...tasks].filter(({ type }) => type !== "graph-end");
  const known = new Set(all.map(({ id }) => id));
  const children = new Map<string, RowTask[]>();
  const roots: RowTask[] = [];
  for (const task of all) {
    const { parent } = task;
    if (parent === undefined || parent === task.id || !known.has(parent)) roots.push(task);
    else {
      const siblings = children.get(parent);
      if (siblings === undefined) children.set(parent, [task]);
      else siblings.push(task);
    }
  }
  const rows: TimelineRow[] = [];
  const seen = new Set<string>();
  const add = (first: RowTask): void => {
    const open: { readonly task: RowTask; readonly depth: number }[] = [{ task: first, depth: 0 }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { task, depth } = next;
      if (seen.has(task.id)) continue;
      seen.add(task.id);
      rows.push({ key: task.id, depth, taskIds: [task.id] });
      const below = children.get(task.id) ?? [];
      for (const child of below.toReversed()) open.push({ task: child, depth: depth + 1 });
    }
  };
  roots.forEach(add);
  all.forEach(add); // tasks that are each other's parents
  return rows;
}

/**
 * Returns the minimum number of rows of each agent without overlapping tasks. Tasks that have not
 * begun have no row.
 */
export function rowsByAgent(tasks: Iterable<RowTask>): readonly TimelineRow[] {
  const byRole = new Map<string, RowTask[]>();
  for (const task of tasks) {
    if (task.startMs === undefined || task.type === "graph-end" || task.type === "loop") continue;
    const same = byRole.get(task.role);
    if (same === undefined) byRole.set(task.role, [task]);
    else same.push(task);
  }
  return [...byRole].flatMap(([role, own]) =>
    lanesOf(own).map((taskIds, lane) => ({
      key: `${role}\n${lane}`,
      depth: 0,
      taskIds,
      ...(lane === 0 && { agent: { role, tasks: own.length } }),
    })),
  );
}

/** Places each task into the first lane that is free at its start. */
function lanesOf(tasks: readonly RowTask[]): readonly (readonly string[])[] {
  const lanes: { readonly ids: string[]; end: number }[] = [];
  const sorted = tasks.toSorted((a, b) => (a.startMs ?? 0) - (b.startMs ?? 0));
  for (const { id, startMs = 0, endMs = Number.POSITIVE_INFINITY } of sorted) {
    const free = lanes.find((lane) => lane.end <= startMs);
    if (free === undefined) lanes.push({ ids: [id], end: endMs });
    else {
      free.ids.push(id);
      free.end = endMs;
    }
  }
  return lanes.map(({ ids }) => ids);
}

/** Returns the rows that are not within a closed row. `closed`: keys of rows. */
export function openRows(
  rows: readonly TimelineRow[],
  closed: ReadonlySet<string>,
): readonly TimelineRow[] {
  if (closed.size === 0) return rows;
  let hiddenBelow = Number.POSITIVE_INFINITY;
  return rows.filter(({ key, depth }) => {
    if (depth > hiddenBelow) return false;
    hiddenBelow = closed.has(key) ? depth : Number.POSITIVE_INFINITY;
    return true;
  });
}

/**
 * Returns the end of the known time of a run: its end, its tasks' latest time, or the current time.
 */
export function lastTime(
  tasks: Iterable<Pick<TaskState, "startMs" | "endMs">>,
  nowMs: number | undefined,
): number {
  let last = nowMs ?? 0;
  for (const { startMs = 0, endMs = startMs } of tasks) last = Math.max(last, endMs);
  return last;
}

/** Reads the bars of the answer of the server: a flat list of kind, start and end. */
export function barsOfRow(flat: readonly (Bar["kind"] | number | null)[]): readonly Bar[] {
  const bars: Bar[] = [];
  for (let i = 0; i + 2 < flat.length; i += 3) {
    const [kind, startMs, endMs] = [flat[i], flat[i + 1], flat[i + 2]];
    if (typeof kind !== "string" || typeof startMs !== "number") continue;
    bars.push({ kind, startMs, ...(typeof endMs === "number" && { endMs }) });
  }
  return bars;
}
