import type { WorkState } from "../../../contracts/run-store.js";
import type { LogEvent, RunData, BoardTask } from "./run-data.js";
import {
  addedCost,
  addTask,
  closeBar,
  closeBars,
  isUnderWay,
  moveTask,
  newTaskRecord,
  openBar,
} from "./run-data.js";
import { loopOf } from "./run-plan.js";
import { taskError } from "./task-error.js";

/** Codes of errors of tasks whose run was stopped. */
const STOPS = new Set(["AE_RUN_CANCELLED", "AE_RUN_TIMEOUT", "AE_RUN_SUSPENDED", "AE_EXIT_EARLY"]);
/** Tools whose duration is that of their delegation. */
const DELEGATING = new Set(["delegate", "delegateTask"]);

export function taskStarted(d: RunData, e: LogEvent<"task_started">, ms: number): void {
  const t = d.tasks.get(e.taskId ?? "") ?? addedTask(d, e);
  if (e.agentRole !== undefined && t.role !== e.agentRole) {
    t.role = e.agentRole;
    d.planVersion++;
  }
  if (t.parent === undefined && e.parentTaskId !== undefined && !isUnderWay(t)) {
    t.parent = e.parentTaskId;
    d.planVersion++;
  }
  t.attempt = e.attempt ?? t.attempt + 1;
  t.startMs ??= ms;
  t.endMs = undefined;
  moveTask(d, t, "running");
  openBar(d, t, "task", { kind: "task", startMs: ms });
  const loop = d.tasks.get(loopOf(d, t) ?? "");
  if (loop === undefined || loop.state === "running") return;
  loop.attempt++;
  loop.startMs ??= ms;
  loop.endMs = undefined;
  moveTask(d, loop, "running");
  openBar(d, loop, "task", { kind: "task", startMs: ms });
}

/** Returns a task that is not in the plan. */
function addedTask(d: RunData, e: LogEvent<"task_started">): BoardTask {
  const { taskId = "", parentTaskId, agentRole = "", contextTaskIds = [] } = e;
  const parent = parentTaskId === undefined ? undefined : d.tasks.get(parentTaskId);
  const t = newTaskRecord(taskId, parentTaskId === undefined ? "task" : "delegated", agentRole);
  t.description = d.text(e.taskDescription ?? "");
  t.deps = contextTaskIds;
  t.phase = parent?.phase;
  t.level = contextTaskIds.reduce(
    (level, id) => Math.max(level, (d.tasks.get(id)?.level ?? -1) + 1),
    parent?.level ?? 0,
  );
  addTask(d, t);
  return t;
}

/** Resets attempts, reviews and bars at the end of a task. */
function endTask(d: RunData, t: BoardTask, state: WorkState, ms: number): void {
  t.endMs = ms;
  t.spentTokens = 0;
  t.spentCost = 0;
  closeBars(t, ms);
  moveTask(d, t, state);
}

export function taskCompleted(d: RunData, e: LogEvent<"task_completed">, ms: number): void {
  const t = knownTask(d, e);
  if (t === undefined) return;
  t.attempt = e.attempt ?? t.attempt;
  endTask(d, t, "done", ms);
}

export function taskFailed(d: RunData, e: LogEvent<"task_failed">, ms: number): void {
  const t = knownTask(d, e);
  if (t === undefined) return;
  t.attempt = e.attempt ?? t.attempt;
  const { code = "", message = e.reason ?? "" } = e.cause ?? {};
  if (STOPS.has(code)) {
    endTask(d, t, code === "AE_RUN_SUSPENDED" && t.reviews > 0 ? "waiting" : "stopped", ms);
    return;
  }
  wasteAttempt(t);
  const failure = taskError(e.cause);
  t.error = {
    code: typeof failure.code === "string" ? failure.code : code,
    message: d.text(typeof failure.message === "string" ? failure.message : message),
  };
  endTask(d, t, "failed", ms);
  d.lastFailed = t.id;
  d.errors.push(d.n);
  const loop = d.tasks.get(loopOf(d, t) ?? "");
  if (loop !== undefined) endTask(d, loop, "failed", ms);
}

/** Counts the usage of the current attempt as wasted. */
function wasteAttempt(t: BoardTask): void {
  t.wastedTokens += t.spentTokens;
  t.wastedCost = addedCost(t.wastedCost, t.spentCost);
  t.spentTokens = 0;
  t.spentCost = 0;
}

export function guardrailRefused(d: RunData, e: LogEvent<"guardrail_refused">): void {
  d.errors.push(d.n);
  const t = knownTask(d, e);
  if (t === undefined || e.retriesLeft === undefined || e.retriesLeft === 0) return;
  wasteAttempt(t);
  t.attempt = (e.attempt ?? t.attempt) + 1;
  d.touched(t.id);
}

const toolBarKey = (e: LogEvent<"tool_started"> | LogEvent<"tool_called">): string =>
  `tool:${e.iteration ?? -1}:${e.callId ?? ""}`;

export function toolStarted(d: RunData, e: LogEvent<"tool_started">, ms: number): void {
  const t = knownTask(d, e);
  if (t === undefined) return;
  d.touched(t.id);
  if (!DELEGATING.has(e.toolName ?? ""))
    openBar(d, t, toolBarKey(e), { kind: "tool", startMs: ms });
}

export function toolCalled(d: RunData, e: LogEvent<"tool_called">, ms: number): void {
  d.totals.tools++;
  if ((e.toolOutcome ?? e.outcome) !== "SUCCESS") d.errors.push(d.n);
  const t = knownTask(d, e);
  if (t === undefined) return;
  t.tools++;
  d.touched(t.id);
  closeBar(t, toolBarKey(e), ms);
}

export function delegationStarted(d: RunData, e: LogEvent<"delegation_started">, ms: number): void {
  const t = knownTask(d, e);
  if (t === undefined) return;
  d.touched(t.id);
  openBar(d, t, `delegation:${e.delegationId ?? ""}`, { kind: "delegation", startMs: ms });
}

export function delegationEnded(
  d: RunData,
  e: LogEvent<"delegation_completed"> | LogEvent<"delegation_failed">,
  ms: number,
): void {
  if (e.type === "delegation_failed") d.errors.push(d.n);
  const t = knownTask(d, e);
  if (t === undefined) return;
  d.touched(t.id);
  closeBar(t, `delegation:${e.delegationId ?? ""}`, ms);
}

export function reviewRequested(d: RunData, e: LogEvent<"review_requested">, ms: number): void {
  const { reviewId = "" } = e;
  const t = knownTask(d, e);
  if (t === undefined || (d.reviews.get(reviewId) ?? t.id) !== t.id) return;
  if (!d.reviews.has(reviewId)) t.reviews++; // a resumed run repeats its questions
  d.reviews.set(reviewId, t.id);
  openBar(d, t, `review:${reviewId}`, { kind: "wait-review", startMs: ms });
  if (isUnderWay(t)) moveTask(d, t, "waiting");
  d.touched(t.id);
}

export function reviewResolved(d: RunData, e: LogEvent<"review_resolved">, ms: number): void {
  const { reviewId = "" } = e;
  const t = d.tasks.get(d.reviews.get(reviewId) ?? "");
  if (t === undefined) return;
  d.reviews.delete(reviewId);
  t.reviews--;
  closeBar(t, `review:${reviewId}`, ms);
  if (t.state === "waiting" && t.reviews === 0)
    moveTask(d, t, t.endMs === undefined ? "running" : "stopped");
  d.touched(t.id);
}

export function retryScheduled(d: RunData, e: LogEvent<"retry_scheduled">, ms: number): void {
  const t = knownTask(d, e);
  if (t === undefined) return;
  d.touched(t.id);
  openBar(d, t, "retry", { kind: "wait-retry", startMs: ms });
}

export function waitForRate(d: RunData, e: LogEvent<"rate_limited">, ms: number): void {
  const t = knownTask(d, e);
  if (t === undefined) return;
  d.touched(t.id);
  openBar(d, t, "limit", { kind: "wait-limit", startMs: ms });
}

/** Closes the waits for a model call that began at `ms`. */
export function endWaits(t: BoardTask, ms: number): void {
  closeBar(t, "retry", ms);
  closeBar(t, "limit", ms);
}

/**
 * Ends the tasks in progress when their run ends. Reviews can still be answered after the end of
 * the run.
 */
export function stopTasks(d: RunData, suspended: boolean, ms: number): void {
  if (!suspended) d.reviews.clear();
  for (const t of d.tasks.values()) {
    if (!suspended) t.reviews = 0;
    if (t.state === "running" || (t.state === "waiting" && !suspended))
      endTask(d, t, t.reviews > 0 ? "waiting" : "stopped", ms);
  }
}

export function knownTask(
  d: RunData,
  e: { readonly taskId?: string | undefined },
): BoardTask | undefined {
  return e.taskId === undefined ? undefined : d.tasks.get(e.taskId);
}
