import type { Attributes } from "@opentelemetry/api";
import type { ChatResponse } from "../../../contracts/chat-model.js";
import type { After, LlmCall } from "../../../contracts/hooks.js";
import type { KeyedQueue } from "../shared/keyed-queue.js";
import type { RunTrace } from "./run-trace.js";
import type { OpenModelCall } from "./task-trace.js";
import type { Tracing } from "./tracing.js";
import { isRecorded, modelCallKey } from "../shared/model-calls.js";
import { requestContent, responseContent } from "./content.js";
import { ATTRIBUTES, OPERATIONS, SPAN_EVENTS } from "./semantic-names.js";
import { begin, errorAttribute, noteError } from "./tracing.js";

/** A model call that has ended, from its hook. */
export type EndedLlmCall = After<
  LlmCall & { readonly durationMs: number },
  "response",
  ChatResponse
>;

/** The spans and metrics of model calls: one for each attempt. */
export class ModelSpans {
  constructor(readonly tracing: Tracing) {}

  begin(run: RunTrace, call: LlmCall): void {
    const content = this.tracing.captureContent ? requestContent(call.request, run.redact) : {};
    const open = begin(run, {
      parent: run.contextOf(call.taskId, call.parentTaskId),
      name: nameOf(call),
      attributes: { ...this.#attributes(call), ...content },
      client: !isRecorded(call),
    });
    this.#queueOf(run, call).push(modelCallKey(call), {
      ...open,
      streams: call.model.stream !== undefined,
      firstChunkMs: undefined,
    });
  }

  /** Called with each piece of a streamed answer. */
  chunk(run: RunTrace, taskId: string): void {
    for (const call of run.task(taskId)?.modelCalls.values() ?? [])
      if (call.streams) call.firstChunkMs ??= run.clock.ms();
  }

  end(run: RunTrace, call: EndedLlmCall): void {
    const open = this.#queueOf(run, call).shift(modelCallKey(call));
    const endedMs = run.clock.ms();
    if (open !== undefined) this.#finish(run, open, call, endedMs);
    else if (call.outcome === "answered") this.#answered(run, call, endedMs);
    else {
      const error = call.error === undefined ? {} : errorAttribute(call.error);
      const attributes = { ...error, [ATTRIBUTES.outcome]: call.outcome };
      run
        .task(call.taskId)
        ?.span.addEvent(SPAN_EVENTS.notCalled, attributes, run.clock.instant(endedMs));
    }
  }

  #finish(run: RunTrace, open: OpenModelCall, call: EndedLlmCall, endedMs: number): void {
    const { span, startedMs, firstChunkMs } = open;
    const at = run.clock.instant(endedMs);
    span.setAttributes(this.#responseAttributes(run, call.response));
    if (firstChunkMs !== undefined)
      span.setAttributes({
        [ATTRIBUTES.requestStream]: true,
        [ATTRIBUTES.timeToFirstChunk]: (firstChunkMs - startedMs) / 1000,
      });
    const outcome = isRecorded(call) && call.outcome === "ok" ? "answered" : call.outcome;
    if (outcome !== "ok") span.setAttribute(ATTRIBUTES.outcome, outcome);
    if (call.error !== undefined) noteError(run, span, call.error, at);
    span.end(at);
    if (outcome === "answered" || isRecorded(call)) return; // no model was called
    const { instruments } = this.tracing;
    const attributes = this.#metricAttributes(call);
    const firstMs = firstChunkMs === undefined ? undefined : firstChunkMs - startedMs;
    instruments.modelCall(endedMs - startedMs, firstMs, {
      ...attributes,
      ...errorAttribute(call.error),
    });
    const { inputTokens, outputTokens } = call.response?.usage ?? {};
    if (inputTokens !== undefined) instruments.tokens("input", inputTokens, attributes);
    if (outputTokens !== undefined) instruments.tokens("output", outputTokens, attributes);
  }

  /**
   * Records an answer from a cache or a journal. No model was called, so there is no client span
   * and no metric.
   */
  #answered(run: RunTrace, call: EndedLlmCall, endedMs: number): void {
    const { span } = begin(run, {
      parent: run.contextOf(call.taskId, call.parentTaskId),
      name: nameOf(call),
      attributes: { ...this.#attributes(call), [ATTRIBUTES.outcome]: "answered" },
      startedMs: endedMs - call.durationMs,
    });
    span.end(run.clock.instant(endedMs));
  }

  #attributes(call: LlmCall): Attributes {
    const { model, request, agentRole, purpose, iteration, attempt, run, taskId } = call;
    const { maxOutputTokens, temperature, stopSequences, responseFormat } = request;
    return {
      [ATTRIBUTES.operation]: OPERATIONS.chat,
      [this.tracing.names.provider]: model.provider,
      [ATTRIBUTES.requestModel]: model.modelId,
      [ATTRIBUTES.agentName]: agentRole,
      ...(maxOutputTokens !== undefined && { [ATTRIBUTES.requestMaxTokens]: maxOutputTokens }),
      ...(temperature !== undefined && { [ATTRIBUTES.requestTemperature]: temperature }),
      ...(stopSequences !== undefined && { [ATTRIBUTES.requestStopSequences]: [...stopSequences] }),
      ...(responseFormat !== undefined && { [ATTRIBUTES.outputType]: "json" }),
      [ATTRIBUTES.runId]: run.id,
      [ATTRIBUTES.taskId]: taskId,
      [ATTRIBUTES.purpose]: purpose,
      [ATTRIBUTES.iteration]: iteration,
      [ATTRIBUTES.attempt]: attempt,
    };
  }

  #responseAttributes(run: RunTrace, response: ChatResponse | undefined): Attributes {
    if (response === undefined) return {};
    const { responseId, modelId, finishReason, usage } = response;
    const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage ?? {};
    return {
      [ATTRIBUTES.finishReasons]: [finishReason],
      ...(responseId !== undefined && { [ATTRIBUTES.responseId]: responseId }),
      ...(modelId !== undefined && { [ATTRIBUTES.responseModel]: modelId }),
      ...(inputTokens !== undefined && { [ATTRIBUTES.inputTokens]: inputTokens }),
      ...(outputTokens !== undefined && { [ATTRIBUTES.outputTokens]: outputTokens }),
      ...(cachedInputTokens !== undefined && { [ATTRIBUTES.cachedTokens]: cachedInputTokens }),
      ...(reasoningTokens !== undefined && { [ATTRIBUTES.reasoningTokens]: reasoningTokens }),
      ...(this.tracing.captureContent && responseContent(response, run.redact)),
    };
  }

  #metricAttributes({ model, response }: EndedLlmCall): Attributes {
    return {
      [ATTRIBUTES.operation]: OPERATIONS.chat,
      [this.tracing.names.provider]: model.provider,
      [ATTRIBUTES.requestModel]: model.modelId,
      ...(response?.modelId !== undefined && { [ATTRIBUTES.responseModel]: response.modelId }),
    };
  }

  #queueOf(run: RunTrace, { taskId }: LlmCall): KeyedQueue<string, OpenModelCall> {
    return run.task(taskId)?.modelCalls ?? run.early;
  }
}

function nameOf({ model }: LlmCall): string {
  return `${OPERATIONS.chat} ${model.modelId}`;
}
