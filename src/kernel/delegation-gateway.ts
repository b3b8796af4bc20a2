import type { Agent } from "../contracts/agent.js";
import type { DelegationRequest, DelegationResponse } from "../contracts/delegation.js";
import type { DelegationCall } from "../contracts/hooks.js";
import type { TaskOutput } from "../contracts/output.js";
import type { DelegateOptions } from "../contracts/run.js";
import type { Outcome } from "../contracts/usage.js";
import type { EngineRun } from "./engine-run.js";
import type { GatewayScope } from "./task-scope.js";
import {
  ExitEarlySignal,
  TaskExecutionError,
  ValidationError,
  messageOf,
  toError,
} from "../contracts/errors.js";
import { Task } from "../contracts/task.js";
import { preview } from "../contracts/validation.js";
import { canonicalRole } from "./workers.js";
import { checkRequest } from "./delegation-request.js";
import { fireAfter, fireBefore } from "./firing.js";
import { checkingSchemaOf } from "./json-schema-check.js";
import { FinishedTask } from "./task-output.js";
import { TaskRecordState } from "./task-record.js";

const WORKER = Symbol.for("agentensemble/delegation-worker");

/** The worker's side of a delegation that was let through. */
export interface WorkerResult {
  /** Its finished task; absent where it failed. */
  readonly output: TaskOutput | undefined;
}

/** What the worker of a delegation brought; `undefined` where nobody was asked, because a guard or a policy said no or a tap answered. */
export function workerOf(response: DelegationResponse): WorkerResult | undefined {
  return (response as { readonly [WORKER]?: WorkerResult })[WORKER]; // set here only; survives a tap's `{ ...response }`
}

function asWorkers(
  response: DelegationResponse,
  output: TaskOutput | undefined,
): DelegationResponse {
  const result: WorkerResult = { output };
  return { ...response, [WORKER]: result } as DelegationResponse; // with one property more
}

interface Ended {
  readonly outcome: Outcome;
  readonly response: DelegationResponse;
  readonly error: Error | undefined;
}

/** A delegation on its way. */
interface Delegation {
  readonly scope: GatewayScope;
  readonly workers: ReadonlyMap<string, Agent>;
  readonly options: DelegateOptions;
  readonly startedMs: number;
  /** As the taps have left it. */
  call: DelegationCall;
  record: TaskRecordState | undefined;
}

/**
 * The gateway of all delegation: guards, the hook pair, the worker's task, events. Refusals and failures come back as responses.
 * @throws ValidationError for a request that is none; what a tap threw; what stops the whole run.
 */
export async function delegate(
  scope: GatewayScope,
  request: DelegationRequest,
  options: DelegateOptions = {},
): Promise<DelegationResponse> {
  const { engine, record } = scope;
  if (scope.cancellation.reason !== undefined) throw scope.cancellation.reason;
  checkRequest(request, options);
  const workers = new Map(
    scope.workers.map((agent): [string, Agent] => [canonicalRole(agent.role), agent]),
  );
  const call: DelegationCall = {
    run: engine.info,
    delegatorRole: record.agentRole,
    request: withRole(request, workers),
    depth: scope.depth,
    maxDepth: engine.limits.maxDelegationDepth,
    availableWorkerRoles: [...workers.values()].map((a) => a.role),
  };
  const delegation: Delegation = {
    scope,
    workers,
    options,
    startedMs: engine.clock.monotonicMs(),
    call,
    record: undefined,
  };
  const blocked = refusal(call, workers);
  if (blocked !== undefined) {
    const response = failed(delegation, blocked);
    report(delegation, { outcome: "rejected", response, error: undefined });
    return response;
  }
  return hooked(delegation);
}

/** Why a request can't be carried out at all. */
function refusal(call: DelegationCall, workers: ReadonlyMap<string, Agent>): string | undefined {
  const { depth, maxDepth, request, delegatorRole, availableWorkerRoles } = call;
  if (depth >= maxDepth)
    return `Delegation depth limit reached (max: ${maxDepth}, current: ${depth}). Complete this task yourself without further delegation.`;
  if (canonicalRole(request.agentRole) === canonicalRole(delegatorRole))
    return `Cannot delegate to yourself (role: '${request.agentRole}'). Choose a different agent.`;
  return workers.has(canonicalRole(request.agentRole))
    ? undefined
    : `Agent not found with role '${request.agentRole}'. Available roles: [${availableWorkerRoles.join(", ")}]`;
}

async function hooked(delegation: Delegation): Promise<DelegationResponse> {
  const { scope } = delegation;
  let broken: unknown;
  let ended: Ended | undefined;
  try {
    ended = await before(delegation);
  } catch (error) {
    broken = error;
    ended = {
      outcome: ExitEarlySignal.isInstance(error) ? "aborted" : "failed",
      response: failed(delegation, messageOf(error)),
      error: toError(error),
    };
  }
  ended ??= await work(delegation);
  let { response } = ended;
  try {
    const settled = await after(delegation, ended);
    response = settled.response;
    broken ??= settled.exit; // what was reviewed stays
  } catch (error) {
    broken ??= error;
    response = failed(delegation, messageOf(error));
  }
  report(delegation, { ...ended, response });
  if (broken !== undefined) throw toError(broken);
  if (
    ended.error !== undefined &&
    (scope.cancellation.reason !== undefined || ExitEarlySignal.isInstance(ended.error))
  )
    throw ended.error;
  if (ExitEarlySignal.isInstance(scope.engine.stopped)) throw scope.engine.stopped; // whoever ended the run does not want the delegator to spend more
  return response;
}

/** The taps in front; what they decided, if anything. */
async function before(delegation: Delegation): Promise<Ended | undefined> {
  const { scope, workers, options } = delegation;
  const { points, warn } = scope.engine;
  if (!points.beforeDelegation.used) return undefined;
  const { taskId } = delegation.call.request;
  const firing = await fireBefore(
    points.beforeDelegation,
    delegation.call,
    warn,
    async (changed) => {
      checkRequest(changed.request, options);
      // Roles are put right before the policies judge them: no cap is evaded by another spelling. The id ties response and events to the request.
      const request = withRole(changed.request, workers);
      return { ...changed, request: request.taskId === taskId ? request : { ...request, taskId } };
    },
  );
  delegation.call = firing.call;
  const reason =
    firing.rejection === undefined ? refusal(firing.call, workers) : reasonOf(firing.rejection);
  if (reason !== undefined)
    return { outcome: "rejected", response: failed(delegation, reason), error: firing.rejection };
  return firing.verdict?.verb === "answer"
    ? { outcome: "answered", response: checkResponse(firing.verdict.value), error: undefined }
    : undefined;
}

/** The taps behind: the response they leave, and a review's wish to end the run. */
async function after(
  delegation: Delegation,
  { outcome, response, error }: Ended,
): Promise<{ readonly response: DelegationResponse; readonly exit?: ExitEarlySignal | undefined }> {
  const { points, warn } = delegation.scope.engine;
  if (!points.afterDelegation.used) return { response };
  const { call } = delegation;
  const settled = outcome === "ok" || outcome === "answered";
  const firing = await fireAfter(
    points.afterDelegation,
    settled
      ? { ...call, outcome, response }
      : { ...call, outcome, error: error ?? new Error(response.errors[0]) },
    warn,
  );
  if (firing.rejection !== undefined)
    return { response: failed(delegation, reasonOf(firing.rejection)) };
  return {
    response: settled
      ? checkResponse((firing.call as { readonly response: unknown }).response)
      : response,
    exit: firing.exit,
  }; // replaced by a tap, or as it was
}

async function work(delegation: Delegation): Promise<Ended> {
  const { scope, call } = delegation;
  announce(delegation);
  try {
    const output = await runWorker(delegation);
    const { taskId, agentRole: workerRole } = call.request;
    const durationMs = scope.engine.clock.monotonicMs() - delegation.startedMs;
    const response: DelegationResponse = {
      taskId,
      status: "SUCCESS",
      workerRole,
      rawOutput: output.raw,
      parsedOutput: output.parsed,
      errors: [],
      durationMs,
    };
    return { outcome: "ok", response: asWorkers(response, output), error: undefined };
  } catch (error) {
    const aborted = scope.cancellation.reason !== undefined || ExitEarlySignal.isInstance(error);
    const cause = TaskExecutionError.isInstance(error) ? (error.cause ?? error) : error;
    const response = asWorkers(failed(delegation, messageOf(cause)), undefined);
    return { outcome: aborted ? "aborted" : "failed", response, error: toError(error) };
  }
}

async function runWorker(delegation: Delegation): Promise<TaskOutput> {
  const { scope, call, workers, options } = delegation;
  const { engine } = scope;
  const asked = workers.get(canonicalRole(call.request.agentRole));
  const taskId = options.taskId ?? (await defineTask(delegation, asked));
  const agent = await agentFor(engine, taskId, asked);
  const previous = engine.outputs.get(taskId);
  const revision =
    previous === undefined
      ? undefined
      : { feedback: call.request.taskDescription, previousOutput: previous.raw };
  const extras = {
    parentTaskId: scope.taskId,
    agent,
    depth: scope.depth + 1,
    priority: call.request.priority === "NORMAL" ? scope.priority : call.request.priority,
    signal: scope.signal,
    revision,
    contextOutputs: contextWithScope(delegation, taskId),
  };
  const next = engine.records.length;
  const running = engine.view.runTask(taskId, extras);
  const first = engine.records[next]; // a task with an agent is on record as soon as it is started
  try {
    return await running;
  } finally {
    delegation.record =
      first === undefined ? undefined : engine.records.findLast((r) => firstAttempt(r) === first);
  }
}

async function defineTask(
  { scope, call, options }: Delegation,
  agent: Agent | undefined,
): Promise<string> {
  const { taskDescription: description, expectedOutputSchema, maxOutputRetries } = call.request;
  const common = { description, expectedOutput: options.expectedOutput, agent };
  const task =
    expectedOutputSchema === undefined
      ? new Task(common)
      : new Task<unknown>({
          ...common,
          outputType: await checkingSchemaOf("expectedOutputSchema", expectedOutputSchema),
          maxOutputRetries,
        });
  return scope.engine.define(task, { parentTaskId: scope.taskId, agent });
}

/** Where two agents of one role were made for different tasks, each does its own. */
async function agentFor(
  engine: EngineRun,
  taskId: string,
  asked: Agent | undefined,
): Promise<Agent | undefined> {
  const own = engine.planned(taskId).agent ?? (await engine.agents.get(taskId));
  return own !== undefined &&
    asked !== undefined &&
    canonicalRole(own.role) === canonicalRole(asked.role)
    ? own
    : asked;
}

/** The request's scope stands beside the outputs that the task is given, under the delegator's name. `undefined` where there is none. */
function contextWithScope(
  { scope: { engine, record: delegator }, call }: Delegation,
  taskId: string,
): readonly TaskOutput[] | undefined {
  const { scope: given, taskId: id } = call.request;
  if (Object.keys(given).length === 0) return undefined;
  const outputs = engine
    .planned(taskId)
    .contextIds.map((contextId) => engine.outputs.get(contextId));
  if (outputs.includes(undefined)) return undefined; // the task will say which of them is missing
  const nowMs = engine.clock.monotonicMs();
  const label = new Task({ description: "scope" });
  const record = new TaskRecordState(
    engine.base,
    id,
    delegator.taskId,
    1,
    label,
    delegator.agent,
    call.delegatorRole,
    nowMs,
    undefined,
    undefined,
  );
  const context = new FinishedTask(
    record,
    label,
    { raw: JSON.stringify(given), parsed: given, hasValue: true },
    0,
    nowMs,
  );
  return [...outputs.filter((output) => output !== undefined), context];
}

function firstAttempt(record: TaskRecordState): TaskRecordState {
  let first = record;
  while (first.previous !== undefined) first = first.previous;
  return first;
}

/** A response that says why there is no result. */
function failed({ scope, call, startedMs }: Delegation, reason: string): DelegationResponse {
  const { taskId, agentRole: workerRole } = call.request;
  return {
    taskId,
    status: "FAILURE",
    workerRole,
    errors: [reason],
    durationMs: scope.engine.clock.monotonicMs() - startedMs,
  };
}

/** The request with the worker's role as the worker spells it; the same object where it is spelled so. */
function withRole(
  request: DelegationRequest,
  workers: ReadonlyMap<string, Agent>,
): DelegationRequest {
  const worker = workers.get(canonicalRole(request.agentRole));
  return worker === undefined || worker.role === request.agentRole
    ? request
    : { ...request, agentRole: worker.role };
}

/** @throws ValidationError for what is no response: taps are other people's code. */
function checkResponse(value: unknown): DelegationResponse {
  const response = value as Partial<DelegationResponse> | undefined; // looked at, not trusted
  if (typeof response?.status === "string" && Array.isArray(response.errors))
    return value as DelegationResponse; // checked as far as it is read here
  throw new ValidationError(
    `A delegation response must be { taskId, status, workerRole, errors, durationMs }, got: ${preview(value)}`,
  );
}

function reasonOf(error: Error): string {
  return (error as { readonly reason?: string }).reason ?? error.message;
}

function placeOf({ scope, call }: Delegation): {
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

function announce(delegation: Delegation): void {
  const { scope } = delegation;
  if (scope.listens("delegation_started"))
    scope.emit({ type: "delegation_started", ...scope.identity, ...placeOf(delegation) });
}

/** Record and event of a delegation that has ended; one that was refused has had no start event. */
function report(delegation: Delegation, { response, error }: Ended): void {
  const { scope, call, startedMs, record: worker } = delegation;
  const endedMs = scope.engine.clock.monotonicMs();
  const succeeded = response.status !== "FAILURE";
  const reason = response.errors[0] ?? "";
  scope.record.addDelegation({
    delegatorRole: call.delegatorRole,
    workerRole: call.request.agentRole,
    taskDescription: call.request.taskDescription,
    depth: scope.depth + 1,
    priority: call.request.priority,
    startedMs,
    endedMs,
    result: succeeded ? (response.rawOutput ?? "") : `Error: ${reason}`,
    succeeded,
    worker,
  });
  const durationMs = endedMs - startedMs;
  if (succeeded) {
    if (scope.listens("delegation_completed"))
      scope.emit({
        type: "delegation_completed",
        ...scope.identity,
        ...placeOf(delegation),
        durationMs,
        response,
      });
  } else if (scope.listens("delegation_failed")) {
    const place = {
      type: "delegation_failed" as const,
      ...scope.identity,
      ...placeOf(delegation),
      durationMs,
      reason,
      response,
    };
    scope.emit(error === undefined ? place : { ...place, cause: error });
  }
}
