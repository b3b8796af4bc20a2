import type { ChatModel, ChatResponse } from "./chat-model.js";
import { ModelCallError } from "./errors.js";

/**
 * Checks a response, because a model may return any value.
 * @throws ModelCallError for an invalid response.
 */
export function checkResponse(
  response: unknown,
  model: Pick<ChatModel, "provider" | "modelId">,
): ChatResponse {
  const message = (response as ChatResponse | null | undefined)?.message as
    { readonly content?: unknown; readonly toolCalls?: unknown } | null | undefined;
  const { content, toolCalls: calls = [] } = message ?? {};
  const hasCalls = Array.isArray(calls) && calls.every(isToolCall);
  if (hasCalls) {
    const checked = response as ChatResponse; // the fields read here are checked
    if (typeof content === "string") return checked;
    // Vendors omit the content next to tool calls.
    const isLeftOut = (content === undefined || content === null) && calls.length > 0;
    if (isLeftOut) return { ...checked, message: { ...checked.message, content: "" } };
  }
  const rule = hasCalls
    ? "content must be a string"
    : "name and arguments of each of toolCalls must be strings";
  throw new ModelCallError(
    `Model '${model.modelId}' of provider '${model.provider}' returned no usable message: ${rule}`,
    {
      provider: model.provider,
      modelId: model.modelId,
      code: "AE_MODEL_BAD_RESPONSE",
      retryable: true,
    },
  );
}

function isToolCall(value: unknown): boolean {
  const call = value as { readonly name?: unknown; readonly arguments?: unknown } | null;
  return typeof call?.name === "string" && typeof call.arguments === "string";
}
