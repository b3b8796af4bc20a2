import type { ChatResponse } from "../../../contracts/chat-model.js";
import type { After, LlmCall } from "../../../contracts/hooks.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { Reservation } from "./reservation.js";
import { ModelCallError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { isRefused } from "../../../contracts/cost.js";
import { countOf } from "../shared/request-tokens.js";
import { messageSize } from "../../shared/message-size.js";
import { asCount } from "../../../util/objects.js";

/**
 * Counts the usage of a call: the reported usage, or else the estimate. Returns a promise only if
 * the counter or an account does.
 */
export function settleCall(
  call: After<LlmCall, "response", ChatResponse>,
  reservation: Reservation,
): Awaitable<void> {
  const { outcome, response, error } = call;
  if (outcome === "ok") return settleResponse(call, response, reservation);
  if (outcome === "answered" || outcome === "rejected" || !reservation.begun || isRefused(error))
    return reservation.release();
  const partial = ModelCallError.isInstance(error) ? (error.partialText ?? "") : "";
  return withCount(call, partial, reservation, (outputTokens) =>
    reservation.settle(reservation.demand.inputTokens, outputTokens),
  );
}

function settleResponse(
  call: LlmCall,
  response: ChatResponse,
  reservation: Reservation,
): Awaitable<void> {
  const { usage, modelId } = response;
  if (response.finishReason === "length") warnOfCut(call, reservation);
  const inputTokens = asCount(usage?.inputTokens) ?? reservation.demand.inputTokens;
  const cachedInputTokens = asCount(usage?.cachedInputTokens) ?? 0;
  const settle = (outputTokens: number): Awaitable<void> => {
    const reasoningTokens = asCount(usage?.reasoningTokens) ?? -1;
    return reservation.settle(inputTokens, outputTokens, {
      cachedInputTokens,
      reasoningTokens,
      ...(modelId !== undefined && { modelId }),
    });
  };
  const outputTokens = asCount(usage?.outputTokens);
  if (outputTokens === undefined)
    return withCount(call, messageSize(response.message).text, reservation, settle);
  return settle(outputTokens);
}

/** Counts the tokens. If that fails, the complete reservation counts as used. */
function withCount(
  call: LlmCall,
  text: string,
  reservation: Reservation,
  settle: (tokens: number) => Awaitable<void>,
): Awaitable<void> {
  let tokens: Awaitable<number>;
  try {
    tokens = text === "" ? 0 : countOf(text, call.run.get(Tokens.TokenCounter));
  } catch {
    tokens = reservation.maxOutputTokens;
  }
  if (typeof tokens !== "number")
    return Promise.resolve(tokens).then(settle, () => settle(reservation.maxOutputTokens));
  return settle(tokens);
}

function warnOfCut({ run, taskId, request }: LlmCall, { maxOutputTokens }: Reservation): void {
  if (maxOutputTokens >= (request.maxOutputTokens ?? Number.POSITIVE_INFINITY)) return;
  run.warn(
    `An answer for task '${taskId}' was cut at ${maxOutputTokens} tokens, the limit of its budget. Set maxOutputTokens in modelOptions, or maxOutputTokensPerCall of the budget.`,
  );
}
