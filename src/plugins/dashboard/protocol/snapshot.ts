import type { AgentSummary, DagEdge } from "../../../contracts/dag.js";
import type { RunSummary, WorkState } from "../../../contracts/run-store.js";
import type { Bar, BarKind, BudgetState, CostRow, PhaseState, RunSnapshot } from "./state-types.js";
import type { OpenBar, PlanFacts, RunData, BoardTask } from "./run-data.js";
import { shortened, newTaskRecord, recount } from "./run-data.js";
import { fromColumn, toColumn, type Column } from "./columns.js";

/** Converts texts and values before they leave the run. */
export interface ShownTexts {
  /** Converts descriptions and messages. */
  text(text: string): string;
  /** Converts ids, roles and names. */
  name(name: string): string;
  /** Converts inputs. */
  value(value: unknown): unknown;
}

/** Changes nothing. For a state without secrets. */
export const AS_IT_IS: ShownTexts = Object.freeze({
  text: shortened,
  name: (name: string) => name,
  value: (value: unknown) => value,
});

/** The columns of a snapshot, by field of a task. They are converted to data and back. */
type TaskColumns = Readonly<Record<string, Column | undefined>>;

interface PlanData extends Omit<PlanFacts, "criticalPath"> {
  /** Positions of tasks in `ids`. */
  readonly criticalPath: readonly Reference[];
}

/** The position of a task in `ids`, or its id if `ids` does not contain it. */
type Reference = number | string;

/** A snapshot with its fields. */
interface SnapshotData extends RunSnapshot {
  readonly executions: number;
  readonly waitsFor?: string | undefined;
  readonly lastFailed?: string | undefined;
  readonly plan?: PlanData | undefined;
  readonly budgets: readonly BudgetState[];
  readonly byModel: readonly CostRow[];
  readonly byPurpose: readonly CostRow[];
  readonly byAgent: readonly CostRow[];
  readonly phases: readonly PhaseState[];
  readonly errors: readonly number[];
  /** Id and task of each waiting review. */
  readonly reviews: readonly (readonly [string, string])[];
  readonly ids: readonly string[];
  /** Roles, models, types and phases. Columns have their positions. */
  readonly names: readonly string[];
  readonly tasks: TaskColumns;
  /**
   * The open bars: position of the task, the key that closes the bar, index among the bars of the
   * task.
   */
  readonly open: readonly (readonly [number, string, number])[];
}

const STATES: readonly WorkState[] = ["idle", "running", "waiting", "done", "failed", "stopped"];
const KINDS: readonly BarKind[] = [
  "task",
  "model",
  "failed",
  "tool",
  "delegation",
  "wait-review",
  "wait-limit",
  "wait-retry",
];

/** The numeric fields of a task that are usually 0. */
const NUMBERS = [
  "level",
  "attempt",
  "inputTokens",
  "outputTokens",
  "unknownCalls",
  "cost",
  "wastedTokens",
  "wastedCost",
  "calls",
  "tools",
  "spentTokens",
  "spentCost",
] as const;
/** Numeric fields that some tasks do not have. */
const TIMES = ["startMs", "endMs", "loopMax", "mapLevel"] as const;
const FLAGS = ["critical", "planned"] as const;
/** Texts that many tasks share. */
const NAMES = ["role", "type", "model", "phase"] as const;

/** Returns the summary of a state for a list of runs. */
export function writeSummary(d: RunData, shown: ShownTexts): RunSummary {
  const { head, n } = d;
  const tags = Object.entries(head.tags).map(([k, v]) => [shown.name(k), shown.name(v)] as const);
  return {
    ...head,
    ensemble: shown.name(head.ensemble),
    state: listedState(d),
    n,
    // the JSON of a record is a record
    inputs: shown.value(head.inputs) as RunSummary["inputs"],
    tags: Object.fromEntries(tags),
    counts: { ...d.counts },
    totals: { ...d.totals },
    error: head.error && {
      ...head.error,
      message: shown.text(head.error.message),
      ...(head.error.taskId !== undefined && { taskId: shown.name(head.error.taskId) }),
    },
  };
}

/** Returns the listed state. A run waits if a person is asked and no task is in progress. */
function listedState({ head, counts, atWork }: RunData): RunSummary["state"] {
  return head.state === "running" && counts.waiting > 0 && atWork === 0 ? "waiting" : head.state;
}

/** Returns the state as data. */
export function writeSnapshot(d: RunData, shown: ShownTexts): RunSnapshot {
  const tasks = [...d.tasks.values()];
  const places = new Map(tasks.map(({ id }, i) => [id, i]));
  const refer = (id: string): Reference => places.get(id) ?? shown.name(id);
  const names = new Map<string, number>();
  const columns = taskColumns(tasks, { refer, shown, names });
  const hasBars = tasks.length <= d.maxBarTasks && tasks.length <= MAX_BAR_TASKS;
  const snapshot: SnapshotData = {
    v: 1,
    n: d.n,
    summary: writeSummary(d, shown),
    executions: d.executions,
    waitsFor: d.waitsFor === undefined ? undefined : shown.text(d.waitsFor),
    lastFailed: d.lastFailed === undefined ? undefined : shown.name(d.lastFailed),
    plan: planData(d, refer, shown),
    budgets: d.budgets,
    byModel: shownRows(d.byModel, shown),
    byPurpose: shownRows(d.byPurpose, shown),
    byAgent: shownRows(d.byAgent, shown),
    phases: [...d.phases.values()].map((phase) => ({ ...phase, name: shown.name(phase.name) })),
    errors: [...d.errors],
    reviews: [...d.reviews].map(([id, task]) => [shown.name(id), shown.name(task)]),
    ids: tasks.map(({ id }) => shown.name(id)),
    names: [...names.keys()],
    tasks: hasBars ? { ...columns, bars: barColumn(tasks) } : columns,
    open: hasBars ? tasks.flatMap((t, i) => openBars(t, i, shown)) : [],
  };
  return snapshot;
}

/** Maximum number of tasks with bars in a snapshot. */
export const MAX_BAR_TASKS = 2_000;

function shownRows(sums: ReadonlyMap<string, CostRow>, shown: ShownTexts): readonly CostRow[] {
  return [...sums.values()].map((row) => ({ ...row, name: shown.name(row.name) }));
}

interface Writer {
  readonly refer: (id: string) => Reference;
  readonly shown: ShownTexts;
  readonly names: Map<string, number>;
}

function taskColumns(tasks: readonly BoardTask[], { refer, shown, names }: Writer): TaskColumns {
  const places = new Map<string, number>();
  const placeOf = (name: string | undefined): number | null => {
    if (name === undefined) return null;
    let place = places.get(name);
    if (place === undefined) {
      const shownName = shown.name(name);
      place = names.get(shownName) ?? names.size;
      names.set(shownName, place);
      places.set(name, place);
    }
    return place;
  };
  const column = (of: (t: BoardTask) => unknown, usual: unknown): Column | undefined =>
    toColumn(tasks.map(of), usual);
  return {
    description: column((t) => shown.text(t.description), ""),
    parent: column((t) => (t.parent === undefined ? null : refer(t.parent)), null),
    deps: column((t) => (t.deps.length === 0 ? null : t.deps.map(refer)), null),
    after: column((t) => (t.after.length === 0 ? null : t.after.map(refer)), null),
    state: column((t) => STATES.indexOf(t.state), 0),
    error: column((t) => t.error && { ...t.error, message: shown.text(t.error.message) }, null),
    ...fieldColumns(NAMES, (field) => column((t) => placeOf(t[field]), null)),
    ...fieldColumns(NUMBERS, (field) => column((t) => t[field], 0)),
    ...fieldColumns(TIMES, (field) => column((t) => t[field], null)),
    ...fieldColumns(FLAGS, (field) => column((t) => Number(t[field]), 0)),
  };
}

function fieldColumns<F extends string>(
  fields: readonly F[],
  columnFor: (field: F) => Column | undefined,
): TaskColumns {
  return Object.fromEntries(fields.map((field) => [field, columnFor(field)] as const));
}

/** Returns the column of bars: kind, start and end of each bar, flat. */
function barColumn(tasks: readonly BoardTask[]): Column | undefined {
  const flat = ({ kind, startMs, endMs }: Bar): readonly unknown[] => [
    KINDS.indexOf(kind),
    startMs,
    endMs ?? null,
  ];
  return toColumn(
    tasks.map(({ bars }) => (bars.length === 0 ? null : bars.flatMap(flat))),
    null,
  );
}

function openBars(
  t: BoardTask,
  place: number,
  shown: ShownTexts,
): readonly [number, string, number][] {
  return t.open.map(({ key, bar }) => [place, shown.name(key), t.bars.indexOf(bar)]);
}

function planData(
  { plan }: RunData,
  refer: (id: string) => Reference,
  { text, name }: ShownTexts,
): PlanData | undefined {
  if (plan === undefined) return undefined;
  return {
    ...plan,
    criticalPath: plan.criticalPath.map(refer),
    agents: plan.agents.map((agent): AgentSummary => ({
      ...agent,
      role: name(agent.role),
      goal: text(agent.goal),
      toolNames: agent.toolNames.map(name),
      background: agent.background === undefined ? undefined : text(agent.background),
    })),
    graphEdges: plan.graphEdges?.map((edge): DagEdge => ({
      ...edge,
      fromStateId: name(edge.fromStateId),
      toStateId: name(edge.toStateId),
      conditionDescription: text(edge.conditionDescription),
    })),
  };
}

/** Fills an empty state from a snapshot. */
export function restoreSnapshot(d: RunData, snapshot: RunSnapshot): void {
  const s = snapshot as SnapshotData; // the version `v` determines the fields
  const { summary } = s;
  const { counts: _counts, totals, n, ...head } = summary;
  d.n = n;
  d.head = { ...head, state: head.state === "waiting" ? waitingState(summary) : head.state };
  d.totals = { ...totals };
  d.startedMs = Date.parse(summary.startedAt);
  d.executions = s.executions;
  d.waitsFor = s.waitsFor;
  d.lastFailed = s.lastFailed;
  d.budgets = [...s.budgets];
  d.byModel = byName(s.byModel);
  d.byPurpose = byName(s.byPurpose);
  d.byAgent = byName(s.byAgent);
  d.phases = byName(s.phases);
  d.errors = [...s.errors];
  d.reviews = new Map(s.reviews);
  const idOf = (reference: Reference): string =>
    typeof reference === "number" ? (s.ids[reference] ?? "") : reference;
  d.plan = s.plan && { ...s.plan, criticalPath: s.plan.criticalPath.map(idOf) };
  restoreTasks(d, s, idOf);
  for (const [place, key, bar] of s.open) {
    const t = d.tasks.get(idOf(place));
    const lasting = t?.bars[bar];
    if (t !== undefined && lasting !== undefined) t.open = [...t.open, { key, bar: lasting }];
  }
}

/**
 * Returns the state of a waiting run. A run that only waits for people is running. A suspended run
 * has ended until it is resumed.
 */
function waitingState({ exitReason }: RunSummary): "running" | "waiting" {
  return exitReason === undefined ? "running" : "waiting";
}

function byName<T extends { readonly name: string }>(list: readonly T[]): Map<string, T> {
  return new Map(list.map((item) => [item.name, { ...item }]));
}

function restoreTasks(d: RunData, s: SnapshotData, idOf: (r: Reference) => string): void {
  const fill = [
    ...NUMBERS.map((f) => fieldReader(s, f, (t, value: number) => (t[f] = value))),
    ...TIMES.map((f) => fieldReader(s, f, (t, value: number) => (t[f] = value))),
    ...FLAGS.map((f) => fieldReader(s, f, (t, value: number) => (t[f] = value === 1))),
    ...NAMES.map((f) => fieldReader(s, f, (t, value: number) => (t[f] = s.names[value] ?? ""))),
    fieldReader(s, "description", (t, value: string) => (t.description = value)),
    fieldReader(s, "parent", (t, value: Reference) => (t.parent = idOf(value))),
    fieldReader(s, "deps", (t, value: readonly Reference[]) => (t.deps = value.map(idOf))),
    fieldReader(s, "after", (t, value: readonly Reference[]) => (t.after = value.map(idOf))),
    fieldReader(s, "state", (t, value: number) => (t.state = STATES[value] ?? "idle")),
    fieldReader(s, "error", (t, value: BoardTask["error"]) => (t.error = value)),
    fieldReader(s, "bars", (t, value: readonly (number | null)[]) => (t.bars = barsOf(value))),
  ];
  s.ids.forEach((id, place) => {
    const t = newTaskRecord(id, "task", "");
    for (const set of fill) set(t, place);
    d.tasks.set(id, t);
  });
  recount(d);
}

/** Sets a field of a task from its column, unless it has the default value. */
function fieldReader<T>(
  s: SnapshotData,
  field: string,
  set: (t: BoardTask, value: T) => unknown,
): (t: BoardTask, place: number) => void {
  const read = fromColumn(s.tasks[field], undefined);
  return (t, place) => {
    const value = read(place) ?? undefined;
    if (value !== undefined) set(t, value as T); // `taskColumns` wrote it
  };
}

function barsOf(flat: readonly (number | null)[]): OpenBar[] {
  const bars: OpenBar[] = [];
  for (let i = 0; i < flat.length; i += 3)
    bars.push({
      kind: KINDS[flat[i] ?? 0] ?? "task",
      startMs: flat[i + 1] ?? 0,
      endMs: flat[i + 2] ?? undefined,
    });
  return bars;
}
