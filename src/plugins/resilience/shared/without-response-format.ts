import type { ChatModel, ChatRequest } from "../../../contracts/chat-model.js";

/** The request for a model it was not made for: one that can't keep to a schema must not be asked to. The prompt describes the schema anyway. */
export function withoutResponseFormat(request: ChatRequest, model: ChatModel): ChatRequest {
  if (request.responseFormat === undefined || model.capabilities?.structuredOutput === true)
    return request;
  return { ...request, responseFormat: undefined };
}
