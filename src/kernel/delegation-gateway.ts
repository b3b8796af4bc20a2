import type { Agent } from "../contracts/agent.js";
import type { DelegationRequest, DelegationResponse } from "../contracts/delegation.js";
import type { DelegationCall } from "../contracts/hooks.js";
import type { DelegateOptions } from "../contracts/run.js";
import type { Outcome } from "../contracts/usage.js";
import type { EngineRun } from "./engine-run.js";
import type { TaskRecordState } from "./task-record.js";
import type { GatewayScope } from "./task-scope.js";
import { ExitEarlySignal, TaskExecutionError, messageOf, toError } from "../contracts/errors.js";
import { Task } from "../contracts/task.js";
import { fireAfter, fireBefore } from "./firing.js";

interface Ended {
  readonly outcome: Outcome;
  readonly response: DelegationResponse;
  readonly error: Error | undefined;
  readonly started: boolean;
}

/** Roles are compared without regard to case and outer blanks. */
const canonical = (role: string): string => role.trim().toLowerCase();

/** Agents a task can be handed to: those of the plan and those without a task of their own, one per role. */
function workersOf(engine: EngineRun): Map<string, Agent> {
  const workers = new Map<string, Agent>();
  for (const agent of [...(engine.options.agents ?? []), ...engine.plan.tasks.map((t) => t.agent)]) {
    if (agent !== undefined && !workers.has(canonical(agent.role))) workers.set(canonical(agent.role), agent);
  }
  return workers;
}

/**
 * The gateway of all delegation: guards, the hook pair, the worker's task, events. Refusals and failures come back as responses;
 * only what stops the whole run is thrown.
 */
export async function delegate(scope: GatewayScope, request: DelegationRequest, o: DelegateOptions = {}): Promise<DelegationResponse> {
  const { engine, record } = scope;
  if (scope.cancellation.reason !== undefined) throw scope.cancellation.reason;
  const startedMs = engine.clock.monotonicMs();
  const workers = workersOf(engine);
  const roles = [...workers.values()].map((a) => a.role);
  const worker = workers.get(canonical(request.agentRole));
  const call: DelegationCall = {
    run: engine.info,
    delegatorRole: record.agentRole,
    request: worker === undefined ? request : { ...request, agentRole: worker.role },
    depth: scope.depth,
    maxDepth: engine.limits.maxDelegationDepth,
    availableWorkerRoles: roles,
  };
  const blocked = refusal(call, workers);
  if (blocked !== undefined) {
    const response = failed(call.request, blocked, startedMs, engine);
    report(scope, call, { outcome: "rejected", response, error: undefined, started: false }, startedMs, undefined);
    return response;
  }
  return hooked(scope, call, workers, o, startedMs);
}

/** Why a request can't be carried out at all. */
function refusal(call: DelegationCall, workers: ReadonlyMap<string, Agent>): string | undefined {
  const { depth, maxDepth, request, delegatorRole, availableWorkerRoles } = call;
  if (depth >= maxDepth) return `Delegation depth limit reached (max: ${maxDepth}, current: ${depth}). Complete this task yourself without further delegation.`;
  if (canonical(request.agentRole) === canonical(delegatorRole)) return `Cannot delegate to yourself (role: '${request.agentRole}'). Choose a different agent.`;
  return workers.has(canonical(request.agentRole)) ? undefined : `Agent not found with role '${request.agentRole}'. Available roles: [${availableWorkerRoles.join(", ")}]`;
}

async function hooked(scope: GatewayScope, planned: DelegationCall, workers: ReadonlyMap<string, Agent>, o: DelegateOptions, startedMs: number): Promise<DelegationResponse> {
  const { points, warn } = scope.engine;
  let call = planned;
  let ended: Ended | undefined;
  let workerRecord: TaskRecordState | undefined;
  if (points.beforeDelegation.used) {
    const firing = await fireBefore(points.beforeDelegation, call, warn);
    call = firing.call;
    const reason = firing.rejection === undefined ? refusal(call, workers) : reasonOf(firing.rejection);
    if (reason !== undefined) ended = { outcome: "rejected", response: failed(call.request, reason, startedMs, scope.engine), error: firing.rejection, started: false };
    else if (firing.verdict?.verb === "answer") ended = { outcome: "answered", response: firing.verdict.value as DelegationResponse, error: undefined, started: false }; // the lane's type
  }
  if (ended === undefined) [ended, workerRecord] = await work(scope, call, workers.get(canonical(call.request.agentRole)), o, startedMs);
  let response = ended.response;
  if (points.afterDelegation.used) {
    const settled = ended.outcome === "ok" || ended.outcome === "answered";
    const firing = await fireAfter(points.afterDelegation, settled ? { ...call, outcome: ended.outcome, response } : { ...call, outcome: ended.outcome, error: ended.error ?? new Error(response.errors[0]) }, warn);
    if (firing.rejection !== undefined) response = failed(call.request, reasonOf(firing.rejection), startedMs, scope.engine);
    else if (settled) response = (firing.call as { readonly response: DelegationResponse }).response; // replaced by a tap, or as it was
  }
  report(scope, call, { ...ended, response }, startedMs, workerRecord);
  if (ended.error !== undefined && (scope.cancellation.reason !== undefined || ExitEarlySignal.isInstance(ended.error))) throw ended.error;
  return response;
}

async function work(scope: GatewayScope, call: DelegationCall, agent: Agent | undefined, o: DelegateOptions, startedMs: number): Promise<[Ended, TaskRecordState | undefined]> {
  const { engine } = scope;
  const { request } = call;
  announce(scope, call);
  const taskId = o.taskId ?? engine.define(new Task({ description: request.taskDescription, expectedOutput: o.expectedOutput, agent }), { parentTaskId: scope.taskId, agent });
  const recordOf = (): TaskRecordState | undefined => engine.records.findLast((r) => r.taskId === taskId);
  try {
    const output = await engine.view.runTask(taskId, { parentTaskId: scope.taskId, agent, depth: scope.depth + 1, signal: scope.signal });
    const durationMs = engine.clock.monotonicMs() - startedMs;
    const response: DelegationResponse = {
      taskId: request.taskId,
      status: "SUCCESS",
      workerRole: request.agentRole,
      rawOutput: output.raw,
      parsedOutput: output.parsed,
      errors: [],
      durationMs,
    };
    return [{ outcome: "ok", response, error: undefined, started: true }, recordOf()];
  } catch (error) {
    const aborted = scope.cancellation.reason !== undefined || ExitEarlySignal.isInstance(error);
    const cause = TaskExecutionError.isInstance(error) ? (error.cause ?? error) : error;
    const response = failed(request, messageOf(cause), startedMs, engine);
    return [{ outcome: aborted ? "aborted" : "failed", response, error: toError(error), started: true }, recordOf()];
  }
}

function failed(request: DelegationRequest, reason: string, startedMs: number, engine: EngineRun): DelegationResponse {
  return { taskId: request.taskId, status: "FAILURE", workerRole: request.agentRole, errors: [reason], durationMs: engine.clock.monotonicMs() - startedMs };
}

function reasonOf(error: Error): string {
  return (error as { readonly reason?: string }).reason ?? error.message;
}

function placeOf(scope: GatewayScope, call: DelegationCall): {
  readonly delegationId: string;
  readonly delegatingAgentRole: string;
  readonly workerRole: string;
  readonly taskDescription: string;
  readonly delegationDepth: number;
  readonly request: DelegationRequest;
} {
  const { request } = call;
  return {
    delegationId: request.taskId,
    delegatingAgentRole: call.delegatorRole,
    workerRole: request.agentRole,
    taskDescription: request.taskDescription,
    delegationDepth: scope.depth + 1,
    request,
  };
}

function announce(scope: GatewayScope, call: DelegationCall): void {
  if (scope.listens("delegation_started")) scope.emit({ type: "delegation_started", ...scope.identity, ...placeOf(scope, call) });
}

/** Record and event of a delegation that has ended; one that was refused has had no start event. */
function report(scope: GatewayScope, call: DelegationCall, ended: Ended, startedMs: number, worker: TaskRecordState | undefined): void {
  const endedMs = scope.engine.clock.monotonicMs();
  const { response, error } = ended;
  const succeeded = response.status !== "FAILURE";
  const reason = response.errors[0] ?? "";
  scope.record.addDelegation({
    delegatorRole: call.delegatorRole,
    workerRole: call.request.agentRole,
    taskDescription: call.request.taskDescription,
    depth: scope.depth + 1,
    startedMs,
    endedMs,
    result: succeeded ? (response.rawOutput ?? "") : `Error: ${reason}`,
    succeeded,
    worker,
  });
  const durationMs = endedMs - startedMs;
  if (succeeded) {
    if (scope.listens("delegation_completed")) scope.emit({ type: "delegation_completed", ...scope.identity, ...placeOf(scope, call), durationMs, response });
  } else if (scope.listens("delegation_failed")) {
    const place = { type: "delegation_failed" as const, ...scope.identity, ...placeOf(scope, call), durationMs, reason, response };
    scope.emit(error === undefined ? place : { ...place, cause: error });
  }
}
