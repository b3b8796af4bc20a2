import type { ChatRequest, ChatResponse, ToolCall } from "../../../contracts/chat-model.js";
import type { CachedResponse } from "./response-store.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";

/** Returns a frozen copy of a response, because many runs receive the same object. */
export function withoutUsage(response: ChatResponse): ChatResponse {
  const { message, finishReason, responseId, modelId, reasoning } = response;
  const toolCalls = message.toolCalls?.map((call) => Object.freeze({ ...call }));
  return Object.freeze({
    message: Object.freeze({
      ...message,
      ...(toolCalls !== undefined && { toolCalls: Object.freeze(toolCalls) }),
    }),
    finishReason,
    ...(responseId !== undefined && { responseId }),
    ...(modelId !== undefined && { modelId }),
    ...(reasoning !== undefined && { reasoning }),
  });
}

/**
 * Replaces ids of tool calls that this conversation already uses. Ids must be unique within a
 * conversation.
 */
export function withFreshIds(response: ChatResponse, { messages }: ChatRequest): ChatResponse {
  const { toolCalls } = response.message;
  if (toolCalls === undefined || toolCalls.length === 0) return response;
  const used = new Set(
    messages.flatMap((message) =>
      message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : [],
    ),
  );
  if (!toolCalls.some(({ id }) => used.has(id))) return response;
  const fresh = toolCalls.map((call): ToolCall => {
    let { id } = call;
    for (let n = 2; used.has(id); n++) id = `${call.id}-${n}`;
    used.add(id);
    return { ...call, id };
  });
  return { ...response, message: { ...response.message, toolCalls: fresh } };
}

/** @throws ValidationError for an entry that the cache did not write. */
export function checkedEntry(found: unknown): CachedResponse {
  const { response, storedAt } = found as {
    readonly response?: unknown;
    readonly storedAt?: unknown;
  };
  const { message, finishReason } = (response ?? {}) as {
    readonly message?: unknown;
    readonly finishReason?: unknown;
  };
  const { content, toolCalls = [] } = (message ?? {}) as {
    readonly content?: unknown;
    readonly toolCalls?: unknown;
  };
  const complete = finishReason === "stop" || finishReason === "tool_calls";
  const sound =
    typeof content === "string" &&
    complete &&
    typeof storedAt === "number" &&
    Array.isArray(toolCalls) &&
    toolCalls.every(isCachedCall);
  if (!sound)
    throw new ValidationError(
      `The store of the cache returned an invalid entry: ${preview(found)}`,
    );
  return found as CachedResponse; // checked above
}

function isCachedCall(call: unknown): boolean {
  const { id, name, arguments: text } = (call ?? {}) as Partial<Record<keyof ToolCall, unknown>>;
  return typeof id === "string" && typeof name === "string" && typeof text === "string";
}
