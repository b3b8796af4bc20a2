import type { ChatModel, ChatRequest, ChatResponse } from "../../contracts/chat-model.js";
import type { LlmCall, OwnedRateLimit } from "../../contracts/hooks.js";
import type { ChatOptions } from "../../contracts/run.js";
import type { UsageRecord } from "../../contracts/usage.js";
import type { HookPair } from "../../kernel/hooks/points.js";
import { checkResponse } from "../../contracts/chat-response.js";
import { ModelCallError } from "../../contracts/errors.js";
import { messageOf, toError } from "../../util/errors.js";
import { type AfterPayload, takeStep } from "../../kernel/hooks/step.js";
import { settleWithin, sleep } from "../../util/abort/timeouts.js";
import { isRefused } from "../../contracts/cost.js";
import { tokensOf } from "../../contracts/metrics.js";
import { NONE, type TaskAttempt } from "../tasks/task-attempt.js";
import { FrameStep, type TaskFrame } from "../tasks/task-frame.js";
import { TokenOutlet, callModel } from "./model-call.js";

/**
 * Gateway of all model calls. Each attempt that the retry policy allows is a step and a record.
 * @throws the last attempt's error; the run's stop reason.
 */
export async function chat(
  frame: TaskFrame,
  request: ChatRequest,
  o: ChatOptions,
): Promise<ChatResponse> {
  const { run, record, cancellation } = frame;
  const iteration = frame.modelCalls++;
  record.messages ??= request.messages.slice(0, 2);
  let model = o.model ?? frame.model;
  if (cancellation.reason === undefined) emitStarted(frame, request, iteration);
  for (let attempt = 1; ; attempt++) {
    if (cancellation.reason !== undefined) throw cancellation.reason; // a listener may end the task
    const call: LlmCall = {
      run: run.info,
      taskId: record.taskId,
      parentTaskId: record.parentTaskId,
      taskAttempt: record.attempt,
      agentRole: record.agentRole,
      purpose: o.purpose,
      iteration,
      attempt,
      request,
      model,
      rateLimits: rateLimitsOf(frame, model),
      priority: frame.priority,
      signal: cancellation.signal,
    };
    const step = new ChatStep(frame, call, o.onToken);
    await takeStep(step);
    const { result, rejection } = step;
    const thrown = step.afterHookError ?? step.earlyExit;
    if (thrown !== undefined) throw thrown;
    if (result !== undefined && rejection === undefined) {
      emitCompleted(step.outlet, result, iteration);
      return result;
    }
    const error = rejection ?? toError(step.error);
    const retry = step.isRetryable ? run.retryPolicy?.next(error, attempt, call) : undefined;
    if (retry === undefined) throw withAttempts(error, attempt);
    const { delayMs } = retry;
    run.emit({
      type: "retry_scheduled",
      ...frame.identity,
      attempt,
      delayMs: Math.round(delayMs),
      reason: messageOf(error),
    });
    await pause(frame, delayMs);
    model = retry.model ?? model;
  }
}

const RECORDED = Object.freeze({ recorded: true });

/** One attempt of a model call. */
class ChatStep extends FrameStep<LlmCall, ChatResponse> {
  readonly #startedMs: number;
  #durationMs = 0;
  readonly outlet: TokenOutlet;

  constructor(frame: TaskFrame, call: LlmCall, onToken: ChatOptions["onToken"]) {
    super(frame, call);
    this.outlet = new TokenOutlet(frame, call.purpose, onToken);
    this.#startedMs = frame.run.clock.monotonicMs();
  }

  get hooks(): HookPair {
    return this.frame.run.points.llmCall;
  }

  override check(changed: LlmCall): LlmCall {
    const { model } = changed;
    return model === this.call.model
      ? changed
      : { ...changed, rateLimits: rateLimitsOf(this.frame, model) };
  }

  /** Whether to ask the retry policy: model called, no refusal by a policy, task not stopped. */
  get isRetryable(): boolean {
    const { rejection, reached, frame } = this;
    return rejection === undefined && reached === "work" && frame.cancellation.reason === undefined;
  }

  work(): Promise<ChatResponse> {
    const { run, cancellation } = this.frame;
    const calling = callModel(this.frame, this.call, this.outlet);
    return settleWithin(calling, cancellation, run.limits.callGraceMs);
  }

  override fromAnswer(value: unknown): ChatResponse {
    return checkResponse(value, this.call.model);
  }

  override done(): void {
    const { run, record } = this.frame;
    this.#durationMs = run.clock.monotonicMs() - this.#startedMs;
    if (this.reached !== "work" && this.outcome !== "answered") return;
    const { request, model, iteration } = this.call;
    const usage = this.#usage();
    run.ledger.add(usage, { iteration, error: this.error });
    run.redactor.knows(model);
    record.addCall({
      usage,
      iteration,
      startedMs: this.#startedMs,
      response: this.result,
      error: this.error === undefined ? undefined : toError(this.error),
      tools: NONE,
      messages: run.capture.capturesMessages ? [...request.messages] : undefined,
    });
  }

  afterPayload(): AfterPayload {
    const { outcome, result, error, call } = this;
    const durationMs = this.#durationMs;
    return result === undefined
      ? { durationMs, outcome, error: toError(error), ...call }
      : { durationMs, outcome, response: result, ...call };
  }

  override resultIn({ response }: AfterPayload): ChatResponse {
    return checkResponse(response, this.call.model);
  }

  /** Returns the attempt's ledger record, with its price if pricing is available. */
  #usage(): UsageRecord {
    const { run, record } = this.frame;
    const { call, result, outcome } = this;
    const isRecorded = call.model.capabilities?.recorded === true;
    const tokens = tokensOf(result, outcome === "answered" || isRefused(this.error));
    const usage: UsageRecord = {
      runId: run.info.id,
      taskId: record.taskId,
      parentTaskId: record.parentTaskId,
      agentRole: record.agentRole,
      purpose: call.purpose,
      provider: call.model.provider,
      modelId: result?.modelId ?? call.model.modelId,
      inputTokens: tokens.inputTokens,
      outputTokens: tokens.outputTokens,
      cachedInputTokens: tokens.cachedInputTokens,
      reasoningTokens: tokens.reasoningTokens,
      latencyMs: this.#durationMs,
      attempt: call.attempt,
      outcome:
        outcome === "rejected" ? "failed" : isRecorded && outcome === "ok" ? "answered" : outcome,
      tags: run.info.tags,
      ...(isRecorded && RECORDED),
    };
    return run.pricing === undefined ? usage : run.pricing.priced(usage);
  }
}

/** Waits before the next attempt, by the run's clock. @throws the run's reason if it stops. */
function pause({ run, cancellation }: TaskFrame, delayMs: number): Promise<void> {
  return run.clock.sleep?.(delayMs, cancellation.signal) ?? sleep(delayMs, cancellation);
}

/** Returns the error with the number of attempts. */
function withAttempts(error: Error, attempts: number): Error {
  if (attempts > 1 && ModelCallError.isInstance(error))
    Object.defineProperty(error, "attempts", { value: attempts, enumerable: true });
  return error;
}

/** Lists all rate limits. The ensemble's applies if agent and task set neither model nor limit. */
function rateLimitsOf({ run, record }: TaskFrame, model: ChatModel): readonly OwnedRateLimit[] {
  const limits: OwnedRateLimit[] = [];
  if (model.capabilities?.exemptFromRateLimits === true) return limits;
  const { agent, task, taskId } = record;
  const { options } = run;
  if (agent?.rateLimit !== undefined) limits.push({ owner: agent, limit: agent.rateLimit });
  if (task.rateLimit !== undefined)
    limits.push({ owner: run.source(run.planned(taskId)), limit: task.rateLimit });
  if (model.rateLimit !== undefined)
    limits.push({ owner: model.wraps ?? model, limit: model.rateLimit });
  if (options.rateLimit !== undefined && !bringsModelOrLimit(record))
    limits.push({ owner: options.rateLimit, limit: options.rateLimit }); // one window per object
  return limits;
}

function bringsModelOrLimit({ agent, task }: TaskAttempt): boolean {
  return (agent?.rateLimit ?? agent?.model ?? task.rateLimit ?? task.model) !== undefined;
}

function emitStarted(frame: TaskFrame, request: ChatRequest, iteration: number): void {
  const { run, record } = frame;
  if (!run.events.listens("llm_iteration_started")) return;
  const messages = [...request.messages];
  run.emit({
    type: "llm_iteration_started",
    ...frame.identity,
    taskDescription: record.task.description,
    iteration,
    iterationIndex: iteration,
    messages,
    totalMessageCount: messages.length,
  });
}

/** Emits the contents of the response. Reasoning precedes an answer that was not streamed. */
function emitCompleted(outlet: TokenOutlet, response: ChatResponse, iteration: number): void {
  const { frame } = outlet;
  const { run, record } = frame;
  const { reasoning } = response;
  if (reasoning && run.events.listens("reasoning_received"))
    run.emit({ type: "reasoning_received", ...frame.identity, iteration, reasoning });
  outlet.deliverWhole(response);
  if (!run.events.listens("llm_iteration_completed")) return;
  const { toolCalls = [], content } = response.message;
  const usage = record.calls.at(-1)?.usage;
  const latencyMs = Math.round(usage?.latencyMs ?? 0);
  run.emit({
    type: "llm_iteration_completed",
    ...frame.identity,
    taskDescription: record.task.description,
    iteration,
    iterationIndex: iteration,
    durationMs: latencyMs,
    latencyMs,
    responseType: toolCalls.length > 0 ? "TOOL_CALLS" : "FINAL_ANSWER",
    responseText: content,
    toolRequests: toolCalls.map((c) => ({ name: c.name, arguments: c.arguments })),
    inputTokens: usage?.inputTokens ?? -1,
    outputTokens: usage?.outputTokens ?? -1,
  });
}
