import type { LogEntry, RunSummary, WorkState } from "../../../contracts/run-store.js";
import type { RunView, TaskState } from "./state-types.js";
import { JsonObject } from "./json-object.js";
import { addedCost } from "./run-data.js";

/** A run to compare, with its state and the full entries of its log. */
export interface RunToCompare {
  readonly view: Pick<RunView, "summary" | "tasks">;
  readonly entries: readonly LogEntry[];
}

export interface ComparedToolCall {
  readonly toolName: string;
  readonly arguments: string;
  readonly result: string;
  readonly outcome: string;
}

/** Figures of a task or a run. Times are milliseconds. */
export interface ComparedFigures {
  /** Time from the first start to the last end. `undefined` before the end. */
  readonly durationMs: number | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /**
   * Number of model calls without reported usage. If there are any, the tokens above are too low.
   */
  readonly unknownCalls: number;
  readonly cost: number;
  /** Number of model calls. */
  readonly calls: number;
  /** Number of tool calls. */
  readonly tools: number;
}

/**
 * One side of a compared task. Texts are those of its last attempt. They are `undefined` if the log
 * has none.
 */
export interface ComparedTask extends ComparedFigures {
  readonly taskId: string;
  readonly role: string;
  readonly model: string | undefined;
  readonly description: string;
  readonly state: WorkState;
  readonly attempt: number;
  readonly output: string | undefined;
  readonly systemPrompt: string | undefined;
  readonly userPrompt: string | undefined;
  readonly error: string | undefined;
  readonly toolCalls: readonly ComparedToolCall[];
}

/** A difference between the two sides of a task. */
export type TaskChange =
  "state" | "output" | "prompt" | "error" | "toolCalls" | "model" | "role" | "description";

/** A task of one or both runs. */
export interface TaskComparison {
  readonly kind: "same" | "changed" | "added" | "removed";
  /** Absent for an added task. */
  readonly a?: ComparedTask | undefined;
  /** Absent for a removed task. */
  readonly b?: ComparedTask | undefined;
  /** The changes. Empty unless `kind` is `changed`. */
  readonly changes: readonly TaskChange[];
  /**
   * `b` minus `a`. Absent unless the task is in both runs. A figure is absent if it is missing on a
   * side.
   */
  readonly delta?: Partial<ComparedFigures> | undefined;
}

export interface RunComparison {
  readonly a: RunSummary;
  readonly b: RunSummary;
  /** `b` minus `a`. `cost` is absent if the currencies differ. */
  readonly delta: Partial<ComparedFigures>;
  /** Number of tasks by the kind of their comparison. */
  readonly counts: Readonly<Record<TaskComparison["kind"], number>>;
  /** The tasks in the order of `a`. An added task follows its predecessor in `b`. */
  readonly tasks: readonly TaskComparison[];
}

/** Texts of the last attempt of a task. */
interface ComparedTexts {
  output?: string | undefined;
  systemPrompt?: string | undefined;
  userPrompt?: string | undefined;
  toolCalls: ComparedToolCall[];
}

/**
 * Compares two runs task by task. Pairs tasks by name, then by description and role, then by
 * position.
 */
export function compareRuns(a: RunToCompare, b: RunToCompare): RunComparison {
  const [left, right] = [comparedTasks(a), comparedTasks(b)];
  const partners = partnersOf(left, right);
  const found = new Set(partners.values());
  const tasks = left.map((task) => compareTasks(task, partners.get(task)));
  right.forEach((task, i) => {
    if (found.has(task)) return;
    const before = right[i - 1];
    const at = before === undefined ? -1 : tasks.findIndex((other) => other.b === before);
    tasks.splice(at + 1, 0, { kind: "added", b: task, changes: [] });
  });
  const counts = { same: 0, changed: 0, added: 0, removed: 0 };
  for (const { kind } of tasks) counts[kind]++;
  const [one, other] = [a.view.summary, b.view.summary];
  const { cost, ...delta } = deltaOf(runFigures(one), runFigures(other));
  const isOneCurrency = (one.totals.currency ?? "") === (other.totals.currency ?? "");
  return { a: one, b: other, delta: { ...delta, ...(isOneCurrency && { cost }) }, counts, tasks };
}

function comparedTasks({ view, entries }: RunToCompare): readonly ComparedTask[] {
  const texts = textsOfTasks(entries);
  return [...view.tasks.values()]
    .filter(({ type }) => type !== "loop" && type !== "graph-end")
    .map((task) => comparedTask(task, texts.get(task.id)));
}

function comparedTask(task: TaskState, texts: ComparedTexts = { toolCalls: [] }): ComparedTask {
  const { startMs, endMs, error } = task;
  return {
    taskId: task.id,
    role: task.role,
    model: task.model,
    description: task.description,
    state: task.state,
    attempt: task.attempt,
    output: texts.output,
    systemPrompt: texts.systemPrompt,
    userPrompt: texts.userPrompt,
    error: error && `${error.code} ${error.message}`.trim(),
    toolCalls: texts.toolCalls,
    durationMs: startMs === undefined || endMs === undefined ? undefined : endMs - startMs,
    inputTokens: task.inputTokens,
    outputTokens: task.outputTokens,
    unknownCalls: task.unknownCalls,
    cost: task.cost,
    calls: task.calls,
    tools: task.tools,
  };
}

function textsOfTasks(entries: readonly LogEntry[]): ReadonlyMap<string, ComparedTexts> {
  const texts = new Map<string, ComparedTexts>();
  for (const entry of entries) {
    if (entry.taskId === undefined) continue;
    if (entry.type === "task_started") texts.set(entry.taskId, { toolCalls: [] });
    const task = texts.get(entry.taskId);
    if (task !== undefined) takeText(task, new JsonObject(entry));
  }
  return texts;
}

function takeText(task: ComparedTexts, entry: JsonObject): void {
  const type = entry.text("type");
  if (type === "task_input") {
    task.systemPrompt = entry.optionalText("systemPrompt");
    task.userPrompt = entry.optionalText("userPrompt");
  } else if (type === "task_completed") {
    task.output = entry.object("taskOutput").optionalText("raw");
  } else if (type === "tool_called") {
    task.toolCalls.push({
      toolName: entry.text("toolName"),
      arguments: entry.text("toolArguments"),
      result: entry.text("toolResult"),
      outcome: entry.optionalText("toolOutcome") ?? entry.text("outcome"),
    });
  }
}

/** Ids with a counter. Tasks with the same counter may be different tasks. */
const COUNTED_ID = /^task-\d+(?:\.\d+)*$/;

/**
 * Returns the partner of each task of `left` that has one. Each rule processes the tasks in order.
 */
function partnersOf(
  left: readonly ComparedTask[],
  right: readonly ComparedTask[],
): ReadonlyMap<ComparedTask, ComparedTask> {
  const partners = new Map<ComparedTask, ComparedTask>();
  const open = new Set(right);
  const pairBy = (keyOfTask: (task: ComparedTask) => string | undefined): void => {
    const waiting = new Map<string, ComparedTask[]>();
    for (const task of open) {
      const key = keyOfTask(task);
      if (key !== undefined) waiting.set(key, [...(waiting.get(key) ?? []), task]);
    }
    for (const task of left) {
      if (partners.has(task)) continue;
      const partner = waiting.get(keyOfTask(task) ?? "")?.shift();
      if (partner === undefined) continue;
      partners.set(task, partner);
      open.delete(partner);
    }
  };
  pairBy(({ taskId }) => (COUNTED_ID.test(taskId) ? undefined : `id ${taskId}`));
  pairBy(({ description, role }) => JSON.stringify([description, role]));
  pairBy(({ taskId }) => (COUNTED_ID.test(taskId) ? `place ${taskId}` : undefined));
  return partners;
}

function compareTasks(a: ComparedTask, b: ComparedTask | undefined): TaskComparison {
  if (b === undefined) return { kind: "removed", a, changes: [] };
  const differing: readonly (readonly [TaskChange, boolean])[] = [
    ["state", a.state !== b.state],
    ["output", a.output !== b.output],
    ["prompt", a.systemPrompt !== b.systemPrompt || a.userPrompt !== b.userPrompt],
    ["error", a.error !== b.error],
    ["toolCalls", JSON.stringify(a.toolCalls) !== JSON.stringify(b.toolCalls)],
    ["model", a.model !== b.model],
    ["role", a.role !== b.role],
    ["description", a.description !== b.description],
  ];
  const changes = differing.flatMap(([change, differs]) => (differs ? [change] : []));
  return { kind: changes.length === 0 ? "same" : "changed", a, b, changes, delta: deltaOf(a, b) };
}

function runFigures({ startedAt, endedAt, totals }: RunSummary): ComparedFigures {
  const durationMs =
    endedAt === undefined ? undefined : Date.parse(endedAt) - Date.parse(startedAt);
  return { ...totals, durationMs };
}

function deltaOf(a: ComparedFigures, b: ComparedFigures): Partial<ComparedFigures> {
  return {
    ...(a.durationMs !== undefined &&
      b.durationMs !== undefined && { durationMs: b.durationMs - a.durationMs }),
    inputTokens: b.inputTokens - a.inputTokens,
    outputTokens: b.outputTokens - a.outputTokens,
    unknownCalls: b.unknownCalls - a.unknownCalls,
    cost: addedCost(b.cost, -a.cost),
    calls: b.calls - a.calls,
    tools: b.tools - a.tools,
  };
}
