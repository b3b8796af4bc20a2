import type { ChatMessage, ChatRequest } from "../../../contracts/chat-model.js";
import type { ModelCallError } from "../../../contracts/errors.js";

/** HTTP statuses that a retry does not change. */
const FINAL_STATUSES: readonly number[] = Object.freeze([400, 401, 402, 403, 404, 413]);
const FINAL_CODES: readonly string[] = Object.freeze([
  "AE_MODEL_AUTH",
  "AE_MODEL_QUOTA",
  "AE_MODEL_BAD_REQUEST",
  "AE_MODEL_UNSUPPORTED_INPUT",
  "AE_MODEL_CONTEXT_LENGTH",
]);

/**
 * Whether the same call to the same model may succeed later. The kind of the failure takes
 * precedence over the statement of the provider.
 */
export function mayPass(failure: ModelCallError): boolean {
  if (
    FINAL_CODES.includes(failure.code) ||
    (failure.status !== undefined && FINAL_STATUSES.includes(failure.status))
  )
    return false;
  return failure.retryable || failure.code === "AE_MODEL_TIMEOUT";
}

/**
 * Whether another model may succeed. True unless the request itself is invalid. A missing model is
 * reported as a bad request with status 404. A bad request with images or files may be valid for
 * another vendor that accepts them.
 */
export function anotherModelMayHelp(failure: ModelCallError, request: ChatRequest): boolean {
  return (
    failure.code !== "AE_MODEL_BAD_REQUEST" ||
    failure.status === 404 ||
    request.messages.some(hasFiles)
  );
}

function hasFiles(message: ChatMessage): boolean {
  const parts = message.role === "tool" ? message.parts : message.content;
  return typeof parts === "object" && parts.some(({ type }) => type !== "text");
}
