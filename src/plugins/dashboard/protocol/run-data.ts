import type { AgentSummary, Dag, DagEdge } from "../../../contracts/dag.js";
import type { EnsembleEvent } from "../../../contracts/events.js";
import type { LogEntry, RunSummary, WorkState } from "../../../contracts/run-store.js";
import type { Bar, BudgetState, CostRow, PhaseState, TaskState } from "./state-types.js";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export type OpenBar = Mutable<Bar>;
export interface LastingBar {
  readonly key: string;
  readonly bar: OpenBar;
}
export type CostSums = Mutable<CostRow>;
export type PhaseRecord = Mutable<PhaseState>;

/** A task of a run in progress, with the state for the next entries. */
export interface BoardTask extends Mutable<Omit<TaskState, "bars">> {
  bars: OpenBar[];
  /** Whether the plan contains the task. */
  planned: boolean;
  /** The maximum number of iterations of a loop. */
  loopMax?: number | undefined;
  mapLevel?: number | undefined;
  /** Tokens and cost of the current attempt. */
  spentTokens: number;
  spentCost: number;
  /** Number of waiting reviews of the task. */
  reviews: number;
  /** Open bars with their ends. Few bars are open at a time. */
  open: readonly LastingBar[];
}

/** The facts of a plan except its tasks. */
export interface PlanFacts {
  readonly agents: readonly AgentSummary[];
  readonly criticalPath: readonly string[];
  readonly groups: number;
  readonly graphEdges?: readonly DagEdge[] | undefined;
  readonly graphStartStateId?: string | undefined;
  readonly mapReduceMode?: Dag["mapReduceMode"];
}

/** The fields of a summary that entries set unchanged. */
export type RunHead = Mutable<
  Pick<
    RunSummary,
    | "runId"
    | "ensemble"
    | "workflow"
    | "state"
    | "exitReason"
    | "startedAt"
    | "endedAt"
    | "inputs"
    | "tags"
    | "error"
  >
>;

/** The whole state of a run. */
export interface RunData {
  n: number;
  head: RunHead;
  /** Milliseconds since 1970 of the start. */
  startedMs: number;
  /**
   * The last instant that was read, and its time since the start. Consecutive entries often have
   * the same instant.
   */
  lastAt: string;
  lastMs: number;
  /** The name of the last model. */
  lastModel: { readonly provider: string; readonly modelId: string; readonly name: string };
  totals: Mutable<RunSummary["totals"]>;
  counts: Record<WorkState, number>;
  /** Number of running tasks that do not wait for a task that they started. */
  atWork: number;
  plan: PlanFacts | undefined;
  /** Counts the changes that are visible in a diagram. */
  planVersion: number;
  tasks: Map<string, BoardTask>;
  /** Number of tasks in progress, by the task that started them. */
  children: Map<string, number>;
  budgets: BudgetState[];
  byModel: Map<string, CostSums>;
  byPurpose: Map<string, CostSums>;
  byAgent: Map<string, CostSums>;
  phases: Map<string, PhaseRecord>;
  executions: number;
  waitsFor: string | undefined;
  /** The task of each waiting review. */
  reviews: Map<string, string>;
  errors: number[];
  /** The task that failed last. */
  lastFailed: string | undefined;
  /** From this number of tasks on, bars are omitted. */
  readonly maxBarTasks: number;
  /** Called with each changed task. */
  readonly touched: (taskId: string) => void;
  /** Converts incoming texts, and the inputs. */
  readonly text: (text: string) => string;
  readonly value: (value: unknown) => unknown;
}

/**
 * An entry of a known type. Each field may be missing, because entries also come from files and
 * other versions.
 */
export type LogEvent<K extends EnsembleEvent["type"]> = LogEntry &
  Partial<Omit<Extract<EnsembleEvent, { readonly type: K }>, "type" | "at" | "taskId">>;

/** Returns the text, cut at 160 characters. */
export function shortened(text: string): string {
  if (text.length <= 160) return text;
  const last = text.charCodeAt(158);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, isHalf ? 158 : 159)}…`;
}

/**
 * Returns a value with its texts cut. Keeps at most 50 members of each list and record, three
 * levels deep.
 */
export function shortValue(value: unknown, levels = 3): unknown {
  if (typeof value === "string") return shortened(value);
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return "…";
  if (Array.isArray(value)) return value.slice(0, 50).map((item) => shortValue(item, levels - 1));
  const members = Object.entries(value).slice(0, 50);
  return Object.fromEntries(members.map(([key, item]) => [key, shortValue(item, levels - 1)]));
}

const COST_DIGITS = 1e12;

/** Returns a sum of costs without rounding errors of binary fractions. */
export function addedCost(sum: number, cost: number): number {
  return cost === 0 ? sum : Math.round((sum + cost) * COST_DIGITS) / COST_DIGITS;
}

export function newRunData(
  o: Pick<RunData, "maxBarTasks" | "touched" | "text" | "value">,
  head: RunHead,
): RunData {
  return {
    n: -1,
    head,
    startedMs: Number.NaN,
    lastAt: "",
    lastMs: Number.NaN,
    lastModel: { provider: "", modelId: "", name: ":" },
    totals: { inputTokens: 0, outputTokens: 0, unknownCalls: 0, cost: 0, calls: 0, tools: 0 },
    counts: { idle: 0, running: 0, waiting: 0, done: 0, failed: 0, stopped: 0 },
    atWork: 0,
    plan: undefined,
    planVersion: 0,
    tasks: new Map(),
    children: new Map(),
    budgets: [],
    byModel: new Map(),
    byPurpose: new Map(),
    byAgent: new Map(),
    phases: new Map(),
    executions: 0,
    waitsFor: undefined,
    reviews: new Map(),
    errors: [],
    lastFailed: undefined,
    ...o,
  };
}

const NONE: readonly never[] = Object.freeze([]);

/** Returns a task that has not begun. The task is not counted yet. */
export function newTaskRecord(id: string, type: string, role: string): BoardTask {
  return {
    id,
    role,
    model: undefined,
    parent: undefined,
    description: "",
    deps: NONE,
    after: NONE,
    level: 0,
    type,
    phase: undefined,
    critical: false,
    state: "idle",
    attempt: 0,
    startMs: undefined,
    endMs: undefined,
    inputTokens: 0,
    outputTokens: 0,
    unknownCalls: 0,
    cost: 0,
    wastedTokens: 0,
    wastedCost: 0,
    calls: 0,
    tools: 0,
    bars: [],
    error: undefined,
    planned: false,
    loopMax: undefined,
    mapLevel: undefined,
    spentTokens: 0,
    spentCost: 0,
    reviews: 0,
    open: NONE,
  };
}

/** Returns whether this is a task, and not a symbol for a loop or for the end of a graph. */
function isCounted({ type }: Pick<TaskState, "type">): boolean {
  return type !== "loop" && type !== "graph-end";
}

function isAtWork(d: RunData, t: BoardTask): boolean {
  return t.state === "running" && !d.children.has(t.id) && isCounted(t);
}

export function isUnderWay({ state }: Pick<TaskState, "state">): boolean {
  return state === "running" || state === "waiting";
}

/** Adds a task and counts it. */
export function addTask(d: RunData, t: BoardTask): void {
  d.tasks.set(t.id, t);
  if (isCounted(t)) d.counts[t.state]++;
  if (d.tasks.size === d.maxBarTasks + 1) for (const other of d.tasks.values()) other.bars = [];
  d.touched(t.id);
}

/** Changes the state of a task, and updates the counters. */
export function moveTask(d: RunData, t: BoardTask, state: WorkState): void {
  d.touched(t.id);
  if (t.state === state) return;
  const [wasAtWork, wasUnderWay] = [isAtWork(d, t), isUnderWay(t)];
  if (isCounted(t)) {
    d.counts[t.state]--;
    d.counts[state]++;
  }
  t.state = state;
  d.atWork += Number(isAtWork(d, t)) - Number(wasAtWork);
  const change = Number(isUnderWay(t)) - Number(wasUnderWay);
  if (change !== 0 && t.parent !== undefined) addChildren(d, t.parent, change);
}

function addChildren(d: RunData, parentId: string, change: number): void {
  const parent = d.tasks.get(parentId);
  const wasAtWork = parent !== undefined && isAtWork(d, parent);
  const count = (d.children.get(parentId) ?? 0) + change;
  if (count > 0) d.children.set(parentId, count);
  else d.children.delete(parentId);
  if (parent !== undefined) d.atWork += Number(isAtWork(d, parent)) - Number(wasAtWork);
}

/** Counts children, reviews and states of tasks that were read from a snapshot. */
export function recount(d: RunData): void {
  for (const t of d.tasks.values()) {
    if (isCounted(t)) d.counts[t.state]++;
    if (t.parent !== undefined && isUnderWay(t))
      d.children.set(t.parent, (d.children.get(t.parent) ?? 0) + 1);
  }
  for (const taskId of d.reviews.values()) {
    const t = d.tasks.get(taskId);
    if (t !== undefined) t.reviews++;
  }
  for (const t of d.tasks.values()) d.atWork += Number(isAtWork(d, t));
}

/** Adds a bar that stays open until {@link closeBar} is called with the same key. */
export function openBar(d: RunData, t: BoardTask, key: string, bar: OpenBar): void {
  if (d.tasks.size > d.maxBarTasks || t.open.some((open) => open.key === key)) return;
  t.bars.push(bar);
  t.open = t.open.length === 0 ? [{ key, bar }] : [...t.open, { key, bar }];
}

/** Closes a bar if it is open. */
export function closeBar(t: BoardTask, key: string, ms: number): void {
  if (t.open.length === 0) return;
  const bar = t.open.find((open) => open.key === key)?.bar;
  if (bar === undefined) return;
  bar.endMs = Math.max(ms, bar.startMs);
  t.open = t.open.filter((open) => open.key !== key);
}

/** Closes all bars of a task. */
export function closeBars(t: BoardTask, ms: number): void {
  for (const { bar } of t.open) bar.endMs = Math.max(ms, bar.startMs);
  t.open = NONE;
}

/** Adds a bar that has ended. */
export function addBar(d: RunData, t: BoardTask, bar: OpenBar): void {
  if (d.tasks.size <= d.maxBarTasks) t.bars.push(bar);
}
