import type { ChatModel, ChatRequest, ChatResponse, Purpose } from "../contracts/chat-model.js";
import type { BorneRateLimit, LlmCall } from "../contracts/hooks.js";
import type { ModelCallRecord } from "../contracts/trace.js";
import type { Outcome, UsageRecord } from "../contracts/usage.js";
import type { Firing } from "./hook-point.js";
import type { GatewayScope } from "./task-scope.js";
import { ModelCallError, messageOf, toError } from "../contracts/errors.js";
import { sleep, settleWithin } from "./cancellation.js";
import { fireAfter, fireBefore } from "./firing.js";
import { isRefused } from "./cost.js";
import { tokensOf } from "./ledger.js";
import { callModel, showWhole } from "./model-call.js";

export interface ChatOptions {
  readonly purpose: Purpose;
  readonly model?: ChatModel | undefined;
  readonly onToken?: ((text: string) => void) | undefined;
}

type Attempt =
  { readonly response: ChatResponse } | { readonly error: Error; readonly retryable: boolean };

/**
 * The gateway of all model calls. Loops over attempts: each fires the hook pair and makes a ledger record; the retry policy decides after a failure.
 * @throws what the last attempt threw; the run's reason when it was stopped.
 */
export async function chat(
  scope: GatewayScope,
  request: ChatRequest,
  o: ChatOptions,
): Promise<ChatResponse> {
  const { engine, record } = scope;
  const iteration = scope.iterations++;
  record.messages ??= request.messages.slice(0, 2);
  let model = o.model ?? scope.model;
  started(scope, request, iteration);
  for (let attempt = 1; ; attempt++) {
    if (scope.cancellation.reason !== undefined) throw scope.cancellation.reason;
    const call: LlmCall = {
      run: engine.info,
      taskId: record.taskId,
      parentTaskId: record.parentTaskId,
      agentRole: record.agentRole,
      purpose: o.purpose,
      iteration,
      attempt,
      request,
      model,
      rateLimits: rateLimitsOf(scope, model),
      priority: scope.priority,
      signal: scope.signal,
    };
    const result = await attemptOnce(scope, call, attempt, o.onToken);
    if ("response" in result) {
      completed(scope, result.response, iteration);
      return result.response;
    }
    const retry =
      result.retryable && scope.cancellation.reason === undefined
        ? engine.retryPolicy?.next(result.error, attempt, call)
        : undefined;
    if (retry === undefined) throw counted(result.error, attempt);
    scope.emit({
      type: "retry_scheduled",
      ...scope.identity,
      attempt,
      delayMs: retry.delayMs,
      reason: messageOf(result.error),
    });
    await pause(scope, retry.delayMs);
    model = retry.model ?? model;
  }
}

async function attemptOnce(
  scope: GatewayScope,
  planned: LlmCall,
  attempt: number,
  onToken: ((text: string) => void) | undefined,
): Promise<Attempt> {
  const { engine } = scope;
  const { points, clock, warn } = engine;
  let call = planned;
  let outcome: Outcome = "ok";
  let response: ChatResponse | undefined;
  let error: Error | undefined;
  let called = false;
  let begun: Firing<LlmCall> | undefined;
  const startedMs = clock.monotonicMs();
  try {
    if (points.beforeLlmCall.used) {
      const limited = (changed: LlmCall): LlmCall =>
        changed.model === planned.model
          ? changed
          : { ...changed, rateLimits: rateLimitsOf(scope, changed.model) };
      const fired = fireBefore(
        points.beforeLlmCall,
        call,
        warn,
        (changed) => Promise.resolve(limited(changed)),
        (f) => (begun = f),
      );
      const firing = fired instanceof Promise ? await fired : fired;
      call = firing.call;
      if (firing.rejection !== undefined) {
        outcome = "rejected";
        error = firing.rejection;
      } else if (firing.verdict?.verb === "answer") {
        outcome = "answered";
        response = showWhole(scope, call, checkResponse(firing.verdict.value, call.model), onToken);
      }
    }
    if (outcome === "ok") {
      if (scope.cancellation.reason !== undefined) throw scope.cancellation.reason; // a hook may have waited long
      called = true;
      response = checkResponse(
        await settleWithin(
          callModel(scope, call, onToken),
          scope.cancellation,
          engine.limits.graceMs * 0.8,
        ),
        call.model,
      );
    }
  } catch (caught) {
    call = begun?.call ?? call; // as the taps before the one that threw have left it
    outcome = scope.cancellation.reason === undefined ? "failed" : "aborted";
    error = toError(caught);
  }
  const durationMs = clock.monotonicMs() - startedMs;
  if (called || outcome === "answered")
    keep(scope, call, attempt, startedMs, durationMs, outcome, response, error);
  return settled(scope, call, { outcome, response, error, durationMs, called });
}

interface Ended {
  readonly outcome: Outcome;
  readonly response: ChatResponse | undefined;
  readonly error: Error | undefined;
  readonly durationMs: number;
  readonly called: boolean;
}

/** Fires the after hook; its taps may change the response or refuse it. A promise only where a tap gives one. */
function settled(scope: GatewayScope, call: LlmCall, ended: Ended): Attempt | Promise<Attempt> {
  const { points, warn } = scope.engine;
  const { outcome, response, error, durationMs, called } = ended;
  const asItWas: Attempt =
    response === undefined
      ? { error: error ?? new Error("no response"), retryable: called }
      : { response };
  if (!points.afterLlmCall.used) return asItWas;
  const payload =
    "error" in asItWas
      ? { durationMs, outcome, error: asItWas.error, ...call }
      : { durationMs, outcome, response, ...call }; // new fields first: V8 is slow to add any to a copy
  const fired = fireAfter(points.afterLlmCall, payload, warn);
  return fired instanceof Promise
    ? fired.then((firing) => revised(call, asItWas, firing))
    : revised(call, asItWas, fired);
}

/** The attempt as the after taps left it. */
function revised(call: LlmCall, asItWas: Attempt, firing: Firing<object>): Attempt {
  if (firing.rejection !== undefined) return { error: firing.rejection, retryable: false };
  const { response } = firing.call as { readonly response?: ChatResponse }; // replaced by a tap, or as it was
  if (response === undefined || !("response" in asItWas)) return asItWas;
  return {
    response: response === asItWas.response ? response : checkResponse(response, call.model),
  };
}

function keep(
  scope: GatewayScope,
  call: LlmCall,
  attempt: number,
  startedMs: number,
  latencyMs: number,
  outcome: Outcome,
  response: ChatResponse | undefined,
  error: Error | undefined,
): void {
  const { engine, record } = scope;
  const tokens = tokensOf(response, outcome === "answered" || isRefused(error));
  const usage: UsageRecord = {
    runId: engine.info.id,
    taskId: record.taskId,
    parentTaskId: record.parentTaskId,
    agentRole: record.agentRole,
    purpose: call.purpose,
    provider: call.model.provider,
    modelId: response?.modelId ?? call.model.modelId,
    inputTokens: tokens.inputTokens,
    outputTokens: tokens.outputTokens,
    cachedInputTokens: tokens.cachedInputTokens,
    reasoningTokens: tokens.reasoningTokens,
    latencyMs,
    attempt,
    outcome: outcome === "rejected" ? "failed" : outcome,
    tags: engine.info.tags,
  };
  const priced = engine.pricing === undefined ? usage : engine.pricing.priced(usage);
  engine.ledger.add(priced);
  engine.redactor.knows(call.model);
  const made: ModelCallRecord = engine.capture.capturesMessages
    ? {
        usage: priced,
        iteration: call.iteration,
        startedMs,
        response,
        error,
        tools: [],
        messages: [...call.request.messages],
      }
    : { usage: priced, iteration: call.iteration, startedMs, response, error, tools: [] };
  record.addCall(made);
}

/** The wait before the next attempt, by the run's clock. @throws the run's reason when it is stopped meanwhile. */
function pause(scope: GatewayScope, delayMs: number): Promise<void> {
  const { clock } = scope.engine;
  return clock.sleep === undefined
    ? sleep(delayMs, scope.cancellation)
    : clock.sleep(delayMs, scope.cancellation.signal);
}

/** The number of attempts as the last error tells it. */
function counted(error: Error, attempts: number): Error {
  if (attempts > 1 && ModelCallError.isInstance(error))
    Object.defineProperty(error, "attempts", { value: attempts, enumerable: true });
  return error;
}

/** @throws ModelCallError for what is no response: models are other people's code. */
function checkResponse(response: unknown, model: ChatModel): ChatResponse {
  const message = (response as ChatResponse | undefined)?.message as
    { readonly content?: unknown; readonly toolCalls?: unknown } | null | undefined;
  const content = message?.content;
  const calls = message?.toolCalls;
  const silent =
    (content === undefined || content === null) && Array.isArray(calls) && calls.length > 0; // vendors leave the text out beside tool calls
  const sound =
    typeof message === "object" &&
    message !== null &&
    (typeof content === "string" || silent) &&
    (calls === undefined ||
      (Array.isArray(calls) &&
        calls.every(
          (c: { readonly name?: unknown; readonly arguments?: unknown } | null) =>
            typeof c?.name === "string" && typeof c.arguments === "string",
        )));
  if (!sound) {
    throw new ModelCallError(
      `Model '${model.modelId}' of provider '${model.provider}' returned no usable message`,
      {
        provider: model.provider,
        modelId: model.modelId,
        code: "AE_MODEL_BAD_RESPONSE",
        retryable: true,
      },
    );
  }
  const checked = response as ChatResponse; // checked above
  return typeof content === "string"
    ? checked
    : { ...checked, message: { ...checked.message, content: "" } };
}

const NO_LIMITS: readonly BorneRateLimit[] = Object.freeze([]);

/** The limits of agent, task and model; the ensemble's own holds where neither agent nor task brings a model or a limit. */
function rateLimitsOf(
  { engine, record }: GatewayScope,
  model: ChatModel,
): readonly BorneRateLimit[] {
  if (model.capabilities?.unlimited === true) return NO_LIMITS;
  const { agent, task } = record;
  const { options } = engine;
  if (
    agent?.rateLimit === undefined &&
    task.rateLimit === undefined &&
    model.rateLimit === undefined &&
    options.rateLimit === undefined
  )
    return NO_LIMITS;
  const own = [
    { bearer: agent, limit: agent?.rateLimit },
    { bearer: engine.sourceOf(record.taskId) ?? task, limit: task.rateLimit },
    { bearer: model.standsFor ?? model, limit: model.rateLimit },
    {
      bearer: options,
      limit:
        (agent?.rateLimit ?? agent?.model ?? task.rateLimit ?? task.model)
          ? undefined
          : options.rateLimit,
    },
  ];
  return own.filter(
    (entry): entry is BorneRateLimit => entry.bearer !== undefined && entry.limit !== undefined,
  );
}

function started(scope: GatewayScope, request: ChatRequest, iteration: number): void {
  if (!scope.listens("llm_iteration_started")) return;
  const messages = [...request.messages];
  const taskDescription = scope.record.task.description;
  scope.emit({
    type: "llm_iteration_started",
    ...scope.identity,
    taskDescription,
    iteration,
    iterationIndex: iteration,
    messages,
    totalMessageCount: messages.length,
  });
}

function completed(scope: GatewayScope, response: ChatResponse, iteration: number): void {
  if (!scope.listens("llm_iteration_completed")) return;
  const { toolCalls = [], content } = response.message;
  const usage = scope.record.calls.at(-1)?.usage;
  scope.emit({
    type: "llm_iteration_completed",
    ...scope.identity,
    taskDescription: scope.record.task.description,
    iteration,
    iterationIndex: iteration,
    durationMs: usage?.latencyMs ?? 0,
    latencyMs: usage?.latencyMs ?? 0,
    responseType: toolCalls.length > 0 ? "TOOL_CALLS" : "FINAL_ANSWER",
    responseText: content,
    toolRequests: toolCalls.map((c) => ({ name: c.name, arguments: c.arguments })),
    inputTokens: usage?.inputTokens ?? -1,
    outputTokens: usage?.outputTokens ?? -1,
  });
}
