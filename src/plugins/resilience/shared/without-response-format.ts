import type { ChatModel, ChatRequest } from "../../../contracts/chat-model.js";

/**
 * Returns the request without its response format if the model does not support schemas. The prompt
 * still describes the schema.
 */
export function withoutResponseFormat(request: ChatRequest, model: ChatModel): ChatRequest {
  if (request.responseFormat === undefined || model.capabilities?.structuredOutput === true)
    return request;
  return { ...request, responseFormat: undefined };
}
