import type { ChatChunk, ChatModel, ChatResponse } from "../../contracts/chat-model.js";
import type { LlmCall } from "../../contracts/hooks.js";
import type { ModelErrorCode } from "../../contracts/model-error-code.js";
import { ModelCallError } from "../../contracts/errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { sleep } from "../../util/abort/timeouts.js";
import type { FaultPlan } from "./fault-plan.js";

/** The codes of transient failures. */
const PASSING: readonly ModelErrorCode[] = [
  "AE_MODEL_SERVER",
  "AE_MODEL_RATE_LIMITED",
  "AE_MODEL_TIMEOUT",
  "AE_MODEL_CONNECTION",
  "AE_MODEL_BAD_RESPONSE",
];

/**
 * Returns the model of one call with the faults of the plan. `answered` is called after each answer
 * that costs tokens.
 */
export function faultyModel(call: LlmCall, plan: FaultPlan, answered: () => void): ChatModel {
  const { model, run, taskId, taskAttempt, iteration, attempt } = call;
  const step = `${taskId}@${taskAttempt} call ${iteration} attempt ${attempt}`;
  const failure = (code: ModelErrorCode, what: string): ModelCallError =>
    new ModelCallError(`Rehearsed failure: ${what}`, {
      provider: model.provider,
      modelId: model.modelId,
      code,
      retryable: PASSING.includes(code),
    });

  async function before(signal: AbortSignal | undefined): Promise<void> {
    const delay = plan.draw("delay", run, step);
    if (delay !== undefined) {
      const { delayMs = 1_000 } = delay;
      const clock = run.get(Tokens.Clock);
      await (clock.sleep?.(delayMs, signal ?? call.signal) ?? sleep(delayMs, signal));
    }
    const error = plan.draw("vendor error", run, step);
    if (error !== undefined) throw failure(error.code ?? "AE_MODEL_SERVER", "vendor error");
  }
  const after = (response: ChatResponse): ChatResponse => {
    answered();
    return plan.draw("wrong JSON", run, step) === undefined ? response : cutInHalf(response);
  };

  const { provider, modelId, capabilities, rateLimit } = model;
  const stream = model.stream?.bind(model);
  return {
    ...{ provider, modelId, capabilities, rateLimit, wraps: model.wraps ?? model },
    async chat(request, options) {
      await before(options?.signal);
      if (plan.draw("cut stream", run, step) !== undefined)
        throw failure("AE_MODEL_BAD_RESPONSE", "the response was cut off");
      return after(await model.chat(request, options));
    },
    ...(stream !== undefined && {
      async *stream(request, options): AsyncGenerator<ChatChunk, void, undefined> {
        await before(options?.signal);
        const isCut = plan.draw("cut stream", run, step) !== undefined;
        for await (const chunk of stream(request, options)) {
          if (isCut && chunk.type === "finish")
            throw failure("AE_MODEL_BAD_RESPONSE", "the stream was cut off");
          yield chunk.type === "finish" ? { ...chunk, response: after(chunk.response) } : chunk;
        }
      },
    }),
    ...(model.check !== undefined && { check: model.check.bind(model) }),
    ...(model.identity !== undefined && { identity: model.identity.bind(model) }),
    ...(model.redact !== undefined && { redact: model.redact.bind(model) }),
  };
}

/** Returns the response with half of its text, and half of the arguments of its tool calls. */
function cutInHalf(response: ChatResponse): ChatResponse {
  const half = (text: string): string => text.slice(0, Math.ceil(text.length / 2));
  const { message } = response;
  const toolCalls = message.toolCalls?.map((call) => ({
    ...call,
    arguments: half(call.arguments),
  }));
  const content = half(message.content);
  return {
    ...response,
    message: { ...message, content, ...(toolCalls !== undefined && { toolCalls }) },
  };
}
