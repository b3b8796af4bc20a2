import type { ChatRequest } from "./chat-model.js";
import type { LlmCall } from "./hooks.js";

/** Returns the request of a call. The allowance of the call limits its output tokens. */
export function allowedRequest({
  request,
  allowance,
}: Pick<LlmCall, "request" | "allowance">): ChatRequest {
  if (allowance === undefined || (request.maxOutputTokens ?? Infinity) <= allowance.maxOutputTokens)
    return request;
  return { ...request, maxOutputTokens: allowance.maxOutputTokens };
}
