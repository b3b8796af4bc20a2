import type { Agent } from "../../contracts/agent.js";
import type {
  DelegationRequest,
  DelegationResponse,
  WorkerResult,
} from "../../contracts/delegation.js";
import type { NewEvent } from "../../contracts/events.js";
import type { DelegationCall } from "../../contracts/hooks.js";
import type { TaskOutput } from "../../contracts/output.js";
import type { DelegateOptions } from "../../contracts/run.js";
import type { JsonSchema, OutputSchema } from "../../contracts/types.js";
import type { HookPair } from "../../kernel/hooks/points.js";
import type { AfterPayload } from "../../kernel/hooks/step.js";
import type { TaskAttempt } from "../tasks/task-attempt.js";
import type { TaskFrame } from "../tasks/task-frame.js";
import { canonicalRole } from "../../contracts/role.js";
import { WORKER } from "../../contracts/delegation.js";
import { checkRequest } from "../../contracts/delegation-request.js";
import { TaskExecutionError, ValidationError, endsRun, reasonOf } from "../../contracts/errors.js";
import { preview } from "../../contracts/validation.js";
import { Task } from "../../contracts/task.js";
import { messageOf, toError } from "../../util/errors.js";
import { takeStep } from "../../kernel/hooks/step.js";
import { checkingSchemaOf } from "../../util/schema/json-schema.js";
import { teamOf } from "../tasks/agents.js";
import { FrameStep } from "../tasks/task-frame.js";
import { contextWithScope } from "./delegation-context.js";

function asWorkers(
  response: DelegationResponse,
  output: TaskOutput | undefined,
): DelegationResponse {
  const result: WorkerResult = { output };
  return { ...response, [WORKER]: result } as DelegationResponse; // with one additional property
}

type Team = ReadonlyMap<string, Agent>;

/**
 * Gateway of all delegations: guards, step, worker's task, events. Returns refusals and failures.
 * @throws ValidationError for an invalid request; the error of a tap; the stop reason of the run.
 */
export async function delegate(
  frame: TaskFrame,
  request: DelegationRequest,
  options: DelegateOptions = {},
): Promise<DelegationResponse> {
  if (frame.cancellation.reason !== undefined) throw frame.cancellation.reason;
  checkRequest(request, options);
  const { run, record } = frame;
  const { depth, maxDepth } = options.handoff ?? {
    depth: frame.depth,
    maxDepth: run.limits.maxDelegationDepth,
  };
  const team = teamFor(frame, options);
  const step = new DelegationStep(frame, team, options, {
    run: run.info,
    taskId: record.taskId,
    identity: `${frame.origin}${frame.keyPartFor(`>${options.toolCallId ?? ""}`)}`,
    delegatorRole: record.agentRole,
    request: withRole(request, team),
    depth,
    maxDepth,
    availableWorkerRoles: [...team.values()].map((a) => a.role),
  });
  if (step.admits()) await takeStep(step);
  else step.done();
  return step.conclude();
}

class DelegationStep extends FrameStep<DelegationCall, DelegationResponse> {
  readonly #startedMs: number;
  /** The response to the delegator if there is no result. */
  #failed: DelegationResponse | undefined;
  #refusal: string | undefined;
  #worker: TaskAttempt | undefined;
  #workerTaskId: string | undefined;

  constructor(
    frame: TaskFrame,
    readonly team: Team,
    readonly options: DelegateOptions,
    call: DelegationCall,
  ) {
    super(frame, call);
    this.#startedMs = frame.run.clock.monotonicMs();
  }

  get hooks(): HookPair {
    return this.frame.run.points.delegation;
  }

  /** Corrects roles first: policies then count one spelling. Keeps the id used in events. */
  override check(changed: DelegationCall): DelegationCall {
    checkRequest(changed.request, this.options);
    const { taskId, mode } = this.call.request;
    const request = withRole(changed.request, this.team);
    const isSame = request.taskId === taskId && request.mode === mode;
    return { ...changed, request: isSame ? request : { ...request, taskId, mode } };
  }

  override admits(): boolean {
    this.#refusal = this.options.refusal ?? refusalOf(this.call, this.team);
    return this.#refusal === undefined;
  }

  async work(): Promise<DelegationResponse> {
    const { run, identity } = this.frame;
    const { handoff, taskId: given } = this.options;
    const workerTaskId = handoff === undefined ? (given ?? (await this.#define())) : undefined;
    this.#workerTaskId = workerTaskId;
    if (run.events.listens("delegation_started"))
      run.emit({ type: "delegation_started", ...identity, ...this.#place() });
    const output = workerTaskId === undefined ? undefined : await this.#runWorker(workerTaskId);
    const { taskId, agentRole: workerRole } = this.call.request;
    const response: DelegationResponse = {
      taskId,
      status: "SUCCESS",
      workerRole,
      rawOutput: output === undefined ? `Transferred to ${workerRole}.` : output.raw,
      parsedOutput: output?.parsed,
      errors: [],
      durationMs: this.#elapsedMs(),
    };
    return output === undefined ? response : asWorkers(response, output);
  }

  override fromAnswer(value: unknown): DelegationResponse {
    return checkResponse(value);
  }

  override done(): void {
    const { outcome, error, reached, result } = this;
    if (result !== undefined) return;
    if (this.#refusal !== undefined) this.#failed = this.#failure(this.#refusal);
    else if (outcome === "rejected") this.#failed = this.#failure(reasonOf(toError(error)));
    else {
      const cause = TaskExecutionError.isInstance(error) ? (error.cause ?? error) : error;
      const failed = this.#failure(messageOf(cause));
      this.#failed = reached === "work" ? asWorkers(failed, undefined) : failed;
    }
  }

  afterPayload(): AfterPayload {
    const { outcome, result, error, call } = this;
    return result === undefined
      ? { outcome, error: toError(error ?? new Error(this.#refusal)), ...call }
      : { outcome, response: result, ...call };
  }

  override resultIn({ response }: AfterPayload): DelegationResponse {
    return checkResponse(response);
  }

  /** Records and reports the end. @throws the error of a tap; the stop reason of the run. */
  conclude(): DelegationResponse {
    const response = this.#response();
    this.#report(response);
    const thrown = this.#thrown();
    if (thrown !== undefined) throw toError(thrown);
    return response;
  }

  /** Returns the response to the delegator, after the after hook has run. */
  #response(): DelegationResponse {
    const { error, rejection, afterHookError } = this;
    const reason = afterHookError?.message ?? (rejection && reasonOf(rejection));
    if (reason !== undefined) return this.#failure(reason);
    return this.result ?? this.#failed ?? this.#failure(messageOf(error));
  }

  /** Returns the error that ends the delegator's task: of a guard or tap, or a stop. */
  #thrown(): unknown {
    const { error, afterHookError, earlyExit, outcome, reached } = this;
    const { run, cancellation } = this.frame;
    const failedBeforeWork = reached !== "work" && outcome !== "rejected";
    const thrown = (failedBeforeWork ? error : undefined) ?? afterHookError ?? earlyExit;
    if (thrown !== undefined) return thrown;
    const isStopped = cancellation.reason !== undefined || endsRun(error);
    if (error !== undefined && isStopped) return error;
    return endsRun(run.stopped) ? run.stopped : undefined; // prevents further spending
  }

  /** Returns a response with the reason for the missing result. */
  #failure(reason: string): DelegationResponse {
    const { taskId, agentRole: workerRole } = this.call.request;
    const durationMs = this.#elapsedMs();
    return { taskId, status: "FAILURE", workerRole, errors: [reason], durationMs };
  }

  #elapsedMs(): number {
    return this.frame.run.clock.monotonicMs() - this.#startedMs;
  }

  async #runWorker(taskId: string): Promise<TaskOutput> {
    const { request } = this.call;
    const { run, record, depth, priority, cancellation } = this.frame;
    const asked = this.#asked;
    const own = run.planned(taskId).agent ?? (await run.agents.get(taskId));
    const isSame =
      own !== undefined && canonicalRole(own.role) === canonicalRole(request.agentRole);
    const previous = run.outputs.get(taskId);
    const next = run.records.length;
    const running = run.view.runTask(taskId, {
      parentTaskId: record.taskId,
      identity: this.call.identity,
      agent: isSame ? own : asked, // several agents may have the same role
      depth: depth + 1,
      priority: request.priority === "NORMAL" ? priority : request.priority,
      signal: cancellation.signal,
      revision:
        previous === undefined
          ? undefined
          : { feedback: request.taskDescription, previousOutput: previous.raw },
      contextOutputs: contextWithScope(this.frame, request, taskId),
    });
    const first = run.records[next]; // a task with an agent has a record when it starts
    try {
      return await running;
    } finally {
      if (first !== undefined) this.#worker = run.records.findLast((r) => r.first === first);
    }
  }

  get #asked(): Agent | undefined {
    return this.team.get(canonicalRole(this.call.request.agentRole));
  }

  async #define(): Promise<string> {
    const agent = this.#asked;
    const {
      taskDescription: description,
      expectedOutputSchema,
      maxOutputRetries,
    } = this.call.request;
    const { expectedOutput, outputType: given } = this.options;
    const common = { description, expectedOutput, agent };
    const outputType =
      given ?? (expectedOutputSchema && (await outputTypeOf(expectedOutputSchema)));
    const task =
      outputType === undefined
        ? new Task(common)
        : new Task<unknown>({
            ...common,
            outputType,
            ...(given === undefined && { maxOutputRetries }),
          });
    const { run, record } = this.frame;
    return run.define(task, { parentTaskId: record.taskId, agent });
  }

  /** Returns the fields that start and end events have in common. */
  #place(): DelegationPlace {
    const { request, delegatorRole, depth } = this.call;
    return {
      delegationId: request.taskId,
      delegatingAgentRole: delegatorRole,
      workerRole: request.agentRole,
      taskDescription: request.taskDescription,
      delegationDepth: depth + 1,
      request,
      ...(this.#workerTaskId !== undefined && { workerTaskId: this.#workerTaskId }),
    };
  }

  /** Records and emits the end of a delegation. A refused delegation had no start event. */
  #report(response: DelegationResponse): void {
    const { run, record, identity } = this.frame;
    const { request, delegatorRole, depth } = this.call;
    const startedMs = this.#startedMs;
    const endedMs = run.clock.monotonicMs();
    const succeeded = response.status !== "FAILURE";
    const reason = response.errors[0] ?? "";
    record.addDelegation({
      delegatorRole,
      workerRole: request.agentRole,
      taskDescription: request.taskDescription,
      depth: depth + 1,
      priority: request.priority,
      mode: request.mode,
      startedMs,
      endedMs,
      result: succeeded ? (response.rawOutput ?? "") : `Error: ${reason}`,
      succeeded,
      refused: this.reached === "hooks",
      worker: this.#worker,
    });
    if (!run.events.listens(succeeded ? "delegation_completed" : "delegation_failed")) return;
    const ended = { ...identity, ...this.#place(), durationMs: Math.round(endedMs - startedMs) };
    if (succeeded) run.emit({ type: "delegation_completed", ...ended, response });
    else {
      const cause = this.error === undefined ? undefined : { cause: toError(this.error) };
      run.emit({ type: "delegation_failed", ...ended, reason, response, ...cause });
    }
  }
}

type DelegationPlace = Pick<
  Extract<NewEvent, { readonly type: "delegation_started" }>,
  | "delegationId"
  | "delegatingAgentRole"
  | "workerRole"
  | "taskDescription"
  | "delegationDepth"
  | "request"
  | "workerTaskId"
>;

/** @throws ValidationError for an invalid response: taps may return any value. */
function checkResponse(value: unknown): DelegationResponse {
  const response = value as Partial<DelegationResponse> | undefined; // its fields are checked next
  if (typeof response?.status === "string" && Array.isArray(response.errors))
    return value as DelegationResponse; // the fields read here were checked
  throw new ValidationError(
    `A delegation response must be { taskId, status, workerRole, errors, durationMs }, got: ${preview(value)}`,
  );
}

/** Returns the agents that a request may name. A given agent precedes others of its role. */
function teamFor({ run }: TaskFrame, { agent, handoff }: DelegateOptions): Team {
  if (handoff === undefined && agent === undefined) return teamOf(run);
  const given = handoff?.agents ?? (agent === undefined ? [] : [agent]);
  const known: Iterable<readonly [string, Agent]> = handoff === undefined ? teamOf(run) : [];
  return new Map([...known, ...given.map((one) => [canonicalRole(one.role), one] as const)]);
}

/** Returns why a request cannot be carried out. */
function refusalOf(call: DelegationCall, team: Team): string | undefined {
  const { depth, maxDepth, request, delegatorRole, availableWorkerRoles } = call;
  const role = canonicalRole(request.agentRole);
  if (depth >= maxDepth)
    return `Delegation depth limit reached (max: ${maxDepth}, current: ${depth}). Complete this task yourself without further delegation.`;
  if (role === canonicalRole(delegatorRole))
    return `Cannot delegate to yourself (role: '${request.agentRole}'). Choose a different agent.`;
  return team.has(role)
    ? undefined
    : `Agent not found with role '${request.agentRole}'. Available roles: [${availableWorkerRoles.join(", ")}]`;
}

/** Returns the request with the worker's spelling of the role. Same object if equal. */
function withRole(request: DelegationRequest, team: Team): DelegationRequest {
  const worker = team.get(canonicalRole(request.agentRole));
  return worker === undefined || worker.role === request.agentRole
    ? request
    : { ...request, agentRole: worker.role };
}

async function outputTypeOf(schema: JsonSchema): Promise<OutputSchema<unknown>> {
  try {
    return await checkingSchemaOf("expectedOutputSchema", schema);
  } catch (cause) {
    throw new ValidationError(messageOf(cause), { cause });
  }
}
