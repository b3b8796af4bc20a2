import type { Agent } from "../contracts/agent.js";
import type { DelegationRequest, DelegationResponse } from "../contracts/delegation.js";
import type { DelegationCall } from "../contracts/hooks.js";
import type { DelegateOptions } from "../contracts/run.js";
import type { Outcome } from "../contracts/usage.js";
import type { EngineRun } from "./engine-run.js";
import type { TaskRecordState } from "./task-record.js";
import type { GatewayScope } from "./task-scope.js";
import { ExitEarlySignal, TaskExecutionError, ValidationError, messageOf, toError } from "../contracts/errors.js";
import { Task } from "../contracts/task.js";
import { preview } from "../contracts/validation.js";
import { canonicalRole } from "./agent-resolution.js";
import { fireAfter, fireBefore } from "./firing.js";

interface Ended {
  readonly outcome: Outcome;
  readonly response: DelegationResponse;
  readonly error: Error | undefined;
  readonly started: boolean;
}

/**
 * The gateway of all delegation: guards, the hook pair, the worker's task, events. Refusals and failures come back as responses;
 * only what stops the whole run is thrown.
 */
export async function delegate(scope: GatewayScope, request: DelegationRequest, o: DelegateOptions = {}): Promise<DelegationResponse> {
  const { engine, record } = scope;
  if (scope.cancellation.reason !== undefined) throw scope.cancellation.reason;
  const startedMs = engine.clock.monotonicMs();
  const workers = new Map(scope.workers.map((agent): [string, Agent] => [canonicalRole(agent.role), agent]));
  const roles = [...workers.values()].map((a) => a.role);
  const worker = workers.get(canonicalRole(request.agentRole));
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
  if (canonicalRole(request.agentRole) === canonicalRole(delegatorRole)) return `Cannot delegate to yourself (role: '${request.agentRole}'). Choose a different agent.`;
  return workers.has(canonicalRole(request.agentRole)) ? undefined : `Agent not found with role '${request.agentRole}'. Available roles: [${availableWorkerRoles.join(", ")}]`;
}

async function hooked(scope: GatewayScope, planned: DelegationCall, workers: ReadonlyMap<string, Agent>, o: DelegateOptions, startedMs: number): Promise<DelegationResponse> {
  const { points, warn } = scope.engine;
  let call = planned;
  let ended: Ended | undefined;
  let workerRecord: TaskRecordState | undefined;
  let broken: unknown;
  if (points.beforeDelegation.used) {
    try {
      // Roles are put right before the policies judge them: no cap is evaded by another spelling.
      const firing = await fireBefore(points.beforeDelegation, call, warn, async (changed) => withRole(changed, workers));
      call = firing.call;
      const reason = firing.rejection === undefined ? refusal(call, workers) : reasonOf(firing.rejection);
      if (reason !== undefined) ended = { outcome: "rejected", response: failed(call.request, reason, startedMs, scope.engine), error: firing.rejection, started: false };
      else if (firing.verdict?.verb === "answer") ended = { outcome: "answered", response: checkResponse(firing.verdict.value), error: undefined, started: false };
    } catch (error) {
      broken = error;
      const outcome = ExitEarlySignal.isInstance(error) ? "aborted" : "failed";
      ended = { outcome, response: failed(call.request, messageOf(error), startedMs, scope.engine), error: toError(error), started: false };
    }
  }
  if (ended === undefined) [ended, workerRecord] = await work(scope, call, workers.get(canonicalRole(call.request.agentRole)), o, startedMs);
  let response = ended.response;
  if (points.afterDelegation.used) {
    const settled = ended.outcome === "ok" || ended.outcome === "answered";
    const firing = await fireAfter(points.afterDelegation, settled ? { ...call, outcome: ended.outcome, response } : { ...call, outcome: ended.outcome, error: ended.error ?? new Error(response.errors[0]) }, warn);
    if (firing.rejection !== undefined) response = failed(call.request, reasonOf(firing.rejection), startedMs, scope.engine);
    else if (settled) response = checkResponse((firing.call as { readonly response: unknown }).response); // replaced by a tap, or as it was
  }
  report(scope, call, { ...ended, response }, startedMs, workerRecord);
  if (broken !== undefined) throw toError(broken);
  if (ended.error !== undefined && (scope.cancellation.reason !== undefined || ExitEarlySignal.isInstance(ended.error))) throw ended.error;
  return response;
}

async function work(scope: GatewayScope, call: DelegationCall, agent: Agent | undefined, o: DelegateOptions, startedMs: number): Promise<[Ended, TaskRecordState | undefined]> {
  const { engine } = scope;
  const { request } = call;
  announce(scope, call);
  let taskId = o.taskId;
  const recordOf = (): TaskRecordState | undefined => engine.records.findLast((r) => r.taskId === taskId);
  try {
    taskId ??= engine.define(new Task({ description: request.taskDescription, expectedOutput: o.expectedOutput, agent }), { parentTaskId: scope.taskId, agent });
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

/** The request with the worker's role as the worker spells it. */
function withRole(call: DelegationCall, workers: ReadonlyMap<string, Agent>): DelegationCall {
  const worker = workers.get(canonicalRole(call.request.agentRole));
  return worker === undefined ? call : { ...call, request: { ...call.request, agentRole: worker.role } };
}

/** @throws ValidationError for what is no response: taps are other people's code. */
function checkResponse(value: unknown): DelegationResponse {
  const response = value as Partial<DelegationResponse> | undefined; // looked at, not trusted
  if (typeof response?.status === "string" && Array.isArray(response.errors)) return value as DelegationResponse; // checked as far as it is read here
  throw new ValidationError(`A delegation response must be { taskId, status, workerRole, errors, durationMs }, got: ${preview(value)}`);
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
