import type { Dag } from "../../../contracts/dag.js";
import type { EnsembleEvent } from "../../../contracts/events.js";
import type { CostSums, LogEvent, RunData, BoardTask } from "./run-data.js";
import { addBar, addedCost, closeBars, moveTask } from "./run-data.js";
import type { BudgetState } from "./state-types.js";
import { markCriticalPath } from "./critical-path.js";
import { takePlan } from "./run-plan.js";
import {
  delegationEnded,
  delegationStarted,
  endWaits,
  guardrailRefused,
  knownTask,
  waitForRate,
  retryScheduled,
  reviewRequested,
  reviewResolved,
  stopTasks,
  taskCompleted,
  taskFailed,
  taskStarted,
  toolCalled,
  toolStarted,
} from "./task-events.js";

function ensembleStarted(d: RunData, e: LogEvent<"ensemble_started">): void {
  if (e.runId !== undefined) d.head.runId = e.runId;
  if (e.workflow !== undefined) d.head.workflow = e.workflow;
  d.executions++;
  d.head.state = "running";
  d.head.exitReason = undefined;
  d.head.endedAt = undefined;
  d.head.error = undefined;
  d.waitsFor = undefined;
  for (const t of d.tasks.values()) if (t.state === "stopped") moveTask(d, t, "idle");
}

function runPlanned(d: RunData, e: LogEvent<"run_planned">): void {
  d.head.ensemble = e.ensemble?.name ?? "";
  d.head.inputs = d.value(e.inputs ?? {}) as RunData["head"]["inputs"]; // a record remains a record
  d.head.tags = e.tags ?? {};
  if (isDrawn(e.dag)) takePlan(d, e.dag);
}

/** Returns whether an entry has a valid plan. Data from files may be anything. */
function isDrawn(dag: Partial<Dag> | undefined): dag is Dag {
  return [dag?.tasks, dag?.edges, dag?.agents, dag?.parallelGroups, dag?.criticalPath].every(
    (list) => Array.isArray(list),
  );
}

function runFailed(d: RunData, e: LogEvent<"run_failed">): void {
  d.errors.push(d.n);
  const failed = d.tasks.get(d.lastFailed ?? "")?.error;
  const isWrapper = e.code === "AE_TASK_EXECUTION" && failed !== undefined;
  d.head.error = {
    code: isWrapper ? failed.code : (e.code ?? ""),
    message: isWrapper ? failed.message : d.text(e.message ?? ""),
    ...(d.lastFailed !== undefined && { taskId: d.lastFailed }),
  };
}

const ENDS: Readonly<Record<string, RunData["head"]["state"]>> = {
  COMPLETED: "done",
  USER_EXIT_EARLY: "done",
  SUSPENDED: "waiting",
  ERROR: "failed",
};

function ensembleCompleted(d: RunData, e: LogEvent<"ensemble_completed">, ms: number): void {
  const isSuspended = e.exitReason === "SUSPENDED";
  stopTasks(d, isSuspended, ms);
  for (const phase of d.phases.values())
    if (phase.state === "running") {
      phase.state = "stopped";
      phase.endMs = ms;
    }
  d.head.exitReason = e.exitReason;
  d.head.state = ENDS[e.exitReason ?? ""] ?? "stopped";
  if (!isSuspended) d.head.endedAt = e.at;
  markCriticalPath(d);
}

function usageRecorded(d: RunData, e: LogEvent<"usage_recorded">, ms: number): void {
  const { provider = "", modelId = "", purpose = "", agentRole = "" } = e;
  const used = usedBy(e);
  const model = modelNameOf(d, provider, modelId);
  if (e.currency !== undefined) d.totals.currency ??= e.currency;
  addUsage(d.totals, used);
  addUsage(costRow(d.byModel, model), used);
  addUsage(costRow(d.byPurpose, purpose), used);
  addUsage(costRow(d.byAgent, agentRole), used);
  const isFailed = e.outcome === "failed";
  if (isFailed) d.errors.push(d.n);
  const t = knownTask(d, e);
  if (t === undefined) return;
  addUsage(t, used);
  t.model = model;
  countAttempt(t, used, isFailed);
  if (e.source === undefined) modelBar(d, t, ms, e);
  d.touched(t.id);
}

/** Returns `provider:modelId`. Consecutive calls of the same model share the text. */
function modelNameOf(d: RunData, provider: string, modelId: string): string {
  if (d.lastModel.provider !== provider || d.lastModel.modelId !== modelId)
    d.lastModel = { provider, modelId, name: `${provider}:${modelId}` };
  return d.lastModel.name;
}

/** Returns the amounts that a usage record adds to sums. Answers from a recording have no cost. */
function usedBy(e: LogEvent<"usage_recorded">): Omit<CostSums, "name"> {
  const { inputTokens = -1, outputTokens = -1, cost = 0, calls = 1 } = e;
  return {
    inputTokens: Math.max(0, inputTokens),
    outputTokens: Math.max(0, outputTokens),
    unknownCalls: Number(inputTokens < 0 || outputTokens < 0),
    cost: e.recorded === true ? 0 : cost,
    calls,
  };
}

/**
 * Counts the usage of an attempt of a call. A failed attempt of a call is wasted at once. Other
 * attempts are wasted if the attempt of the task fails.
 */
function countAttempt(t: BoardTask, used: Omit<CostSums, "name">, isFailed: boolean): void {
  const tokens = used.inputTokens + used.outputTokens;
  if (isFailed) {
    t.wastedTokens += tokens;
    t.wastedCost = addedCost(t.wastedCost, used.cost);
  } else {
    t.spentTokens += tokens;
    t.spentCost = addedCost(t.spentCost, used.cost);
  }
}

function modelBar(d: RunData, t: BoardTask, ms: number, e: LogEvent<"usage_recorded">): void {
  const startMs = Math.max(0, ms - (e.latencyMs ?? 0));
  endWaits(t, startMs);
  addBar(d, t, { kind: e.outcome === "failed" ? "failed" : "model", startMs, endMs: ms });
}

function costRow(rows: Map<string, CostSums>, name: string): CostSums {
  let row = rows.get(name);
  if (row === undefined) {
    row = { name, inputTokens: 0, outputTokens: 0, unknownCalls: 0, cost: 0, calls: 0 };
    rows.set(name, row);
  }
  return row;
}

function addUsage(sums: Omit<CostSums, "name">, used: Omit<CostSums, "name">): void {
  sums.inputTokens += used.inputTokens;
  sums.outputTokens += used.outputTokens;
  sums.unknownCalls += used.unknownCalls;
  sums.cost = addedCost(sums.cost, used.cost);
  sums.calls += used.calls;
}

/** The options of a budget, and the limits that they set. */
const LIMITS = [
  ["maxTokens", "tokens"],
  ["maxCost", "cost"],
  ["maxDurationMs", "durationMs"],
] as const;

function budgetChanged(
  d: RunData,
  e: LogEvent<"budget_opened"> | (LogEvent<"budget_changed"> & { readonly action?: undefined }),
): void {
  const reserved: Partial<Record<BudgetState["limit"], number>> =
    (e as LogEvent<"budget_changed">).reserved ?? {}; // absent at the opening
  d.budgets = LIMITS.flatMap(([option, limit]): readonly BudgetState[] => {
    const allowed = e.limits?.[option];
    if (allowed === undefined) return [];
    const exceeded = d.budgets.find((budget) => budget.limit === limit)?.exceeded ?? false;
    return [
      { limit, allowed, used: e.used?.[limit] ?? 0, reserved: reserved[limit] ?? 0, exceeded },
    ];
  });
}

function budgetExceeded(d: RunData, e: LogEvent<"budget_exceeded">): void {
  d.errors.push(d.n);
  const limit = LIMITS.find(([option]) => option === e.limit)?.[1];
  d.budgets = d.budgets.map((budget) =>
    budget.limit === limit
      ? { ...budget, exceeded: true, used: Math.max(budget.used, e.used ?? 0) }
      : budget,
  );
}

function phaseStarted(d: RunData, e: LogEvent<"phase_started">, ms: number): void {
  const { phaseName: name = "", attempt = 1 } = e;
  const startMs = d.phases.get(name)?.startMs ?? ms;
  d.phases.set(name, { name, attempt, state: "running", startMs, endMs: undefined });
}

function phaseCompleted(d: RunData, e: LogEvent<"phase_completed">, ms: number): void {
  const phase = d.phases.get(e.phaseName ?? "");
  if (phase === undefined) return;
  phase.state = "done";
  phase.endMs = ms;
}

/** Ends an iteration. The loop pauses until one of its tasks begins again. */
function loopIteration(d: RunData, e: LogEvent<"loop_iteration_completed">, ms: number): void {
  const loop = d.tasks.get(`$loop:${e.loopName ?? ""}`);
  if (loop === undefined) return;
  loop.attempt = e.iterationNumber ?? loop.attempt;
  loop.endMs = ms;
  closeBars(loop, ms);
  moveTask(d, loop, "done");
}

const GRAPH_END = "__END__";

function graphState(d: RunData, e: LogEvent<"graph_state_completed">, ms: number): void {
  const idOf = (state = ""): string =>
    state === GRAPH_END ? state : `${e.graphName ?? ""}/${state}`;
  const [from, to] = [idOf(e.stateName), idOf(e.nextState)];
  const isMade = (edge: { readonly fromStateId: string; readonly toStateId: string }): boolean =>
    edge.fromStateId === from && edge.toStateId === to;
  const edges = d.plan?.graphEdges;
  if (d.plan !== undefined && edges?.some((edge) => !edge.fired && isMade(edge)) === true) {
    d.planVersion++;
    d.plan = {
      ...d.plan,
      graphEdges: edges.map((edge) => (isMade(edge) ? { ...edge, fired: true } : edge)),
    };
  }
  const end = to === GRAPH_END ? d.tasks.get(to) : undefined;
  if (end === undefined) return;
  end.startMs = ms;
  end.endMs = ms;
  moveTask(d, end, "done");
}

function noteError(d: RunData): void {
  d.errors.push(d.n);
}

type EntryHandlers = {
  readonly [K in EnsembleEvent["type"]]?: (d: RunData, e: LogEvent<K>, ms: number) => void;
};

/** The changes that each type of entry makes. Other types change nothing. */
const HANDLERS: EntryHandlers = {
  ensemble_started: ensembleStarted,
  run_planned: runPlanned,
  run_resumed: (d, e) => {
    d.executions = Math.max(d.executions, e.execution ?? 0);
  },
  run_suspended: (d, e) => {
    d.waitsFor = d.text(e.waitsFor ?? "");
  },
  run_failed: runFailed,
  ensemble_completed: ensembleCompleted,
  task_started: taskStarted,
  task_completed: taskCompleted,
  task_failed: taskFailed,
  usage_recorded: usageRecorded,
  tool_started: toolStarted,
  tool_called: toolCalled,
  guardrail_refused: guardrailRefused,
  delegation_started: delegationStarted,
  delegation_completed: delegationEnded,
  delegation_failed: delegationEnded,
  review_requested: reviewRequested,
  review_resolved: reviewResolved,
  retry_scheduled: retryScheduled,
  rate_limited: waitForRate,
  budget_opened: budgetChanged,
  budget_changed: budgetChanged,
  budget_exceeded: budgetExceeded,
  phase_started: phaseStarted,
  phase_completed: phaseCompleted,
  loop_iteration_completed: loopIteration,
  graph_state_completed: graphState,
  output_corrected: noteError,
  iteration_limit_reached: noteError,
  call_in_doubt: noteError,
  run_warning: noteError,
};

const BY_TYPE: ReadonlyMap<string, (d: RunData, e: never, ms: number) => void> = new Map(
  Object.entries(HANDLERS),
);

/** Applies one entry of a run, with its time since the start of the run. */
export function applyEntry(d: RunData, e: { readonly type: string }, ms: number): void {
  BY_TYPE.get(e.type)?.(d, e as never, ms); // the type of the entry selects the handler
}
