import type { TaskState } from "../../../src/plugins/dashboard/protocol/state-types.js";
import { byId } from "./layered-layout.js";

/**
 * The sort order of rows. `plan`: in the order of the plan, each task followed by the tasks that it
 * caused.
 */
export type TaskOrder = "plan" | "state" | "time" | "tokens" | "cost";

/** The filter of tasks. All given conditions must match. */
export interface TaskFilter {
  readonly state?: string | undefined;
  readonly level?: number | undefined;
  readonly kind?: string | undefined;
  /** A text in id, role, model or description. Ignores case. */
  readonly text?: string | undefined;
}

export interface TaskRow {
  readonly task: TaskState;
  /** The nesting depth: the number of tasks above this task. */
  readonly depth: number;
}

/** Waiting and failed tasks come first. */
const STATES = ["waiting", "failed", "running", "stopped", "done", "idle"];

/** Returns the rows of the table. */
export function taskRows(
  tasks: Iterable<TaskState>,
  filter: TaskFilter,
  order: TaskOrder,
  nowMs: number,
): readonly TaskRow[] {
  const rows = order === "plan" ? inTree(tasks) : [...tasks].map((task) => ({ task, depth: 0 }));
  const shown = rows.filter(({ task }) => fits(task, filter));
  if (order === "plan") return shown;
  const figure = figureOf(order, nowMs);
  return shown.sort((a, b) => figure(b.task) - figure(a.task) || byId(a.task.id, b.task.id));
}

function fits(task: TaskState, { state, level, kind, text }: TaskFilter): boolean {
  if (state !== undefined && task.state !== state) return false;
  if (level !== undefined && task.level !== level) return false;
  if (kind !== undefined && task.type !== kind) return false;
  if (text === undefined || text === "") return true;
  const wanted = text.toLowerCase();
  return [task.id, task.role, task.model ?? "", task.description].some((part) =>
    part.toLowerCase().includes(wanted),
  );
}

/** Returns the tasks in the order of the run, each followed by the tasks that it caused. */
function inTree(tasks: Iterable<TaskState>): TaskRow[] {
  const all = [...tasks];
  const ids = new Set(all.map(({ id }) => id));
  const children = new Map<string, TaskState[]>();
  const roots: TaskState[] = [];
  for (const task of all) {
    const { parent } = task;
    if (parent === undefined || !ids.has(parent) || parent === task.id) roots.push(task);
    else {
      const list = children.get(parent);
      if (list === undefined) children.set(parent, [task]);
      else list.push(task);
    }
  }
  const rows: TaskRow[] = [];
  const stack = roots.map((task) => ({ task, depth: 0 })).reverse();
  for (let row = stack.pop(); row !== undefined; row = stack.pop()) {
    rows.push(row);
    const { depth } = row;
    const own = children.get(row.task.id) ?? [];
    for (const task of own.toReversed()) stack.push({ task, depth: depth + 1 });
  }
  return rows;
}

function figureOf(order: Exclude<TaskOrder, "plan">, nowMs: number): (task: TaskState) => number {
  switch (order) {
    case "state":
      return ({ state }) => -STATES.indexOf(state);
    case "time":
      return ({ startMs, endMs }) => (startMs === undefined ? -1 : (endMs ?? nowMs) - startMs);
    case "tokens":
      return ({ inputTokens, outputTokens }) => inputTokens + outputTokens;
    case "cost":
      return ({ cost }) => cost;
  }
}
