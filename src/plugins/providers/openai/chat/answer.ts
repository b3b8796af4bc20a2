import type {
  ChatResponse,
  FinishReason,
  ToolCall,
  Usage,
} from "../../../../contracts/chat-model.js";
import type { Fields } from "../../../../util/objects.js";
import { reasoningParts } from "../../shared/reasoning.js";
import { InvalidResponseError, ErrorDocument } from "../../shared/invalid-response-error.js";
import {
  fallbackCallId,
  readArguments,
  reasoningField,
  reportedFields,
  toolCallsField,
} from "../../shared/wire-fields.js";
import { asFields, asList, asText, asCount } from "../../../../util/objects.js";

const FINISH_REASONS: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ["stop", "stop"],
  ["tool_calls", "tool_calls"],
  ["function_call", "tool_calls"],
  ["length", "length"],
  ["model_length", "length"],
  ["content_filter", "content_filter"],
]);

/** Reads the reported usage. Returns `undefined` if nothing was reported. */
export function readUsage(value: unknown): Usage | undefined {
  const usage = asFields(value);
  if (usage === undefined) return undefined;
  return reportedFields<Usage>({
    inputTokens: asCount(usage["prompt_tokens"]),
    outputTokens: asCount(usage["completion_tokens"]),
    cachedInputTokens: asCount(asFields(usage["prompt_tokens_details"])?.["cached_tokens"]),
    cacheWriteInputTokens: asCount(
      asFields(usage["prompt_tokens_details"])?.["cache_write_tokens"],
    ),
    reasoningTokens: asCount(asFields(usage["completion_tokens_details"])?.["reasoning_tokens"]),
  });
}

/**
 * Converts the finish reason. Some servers return "stop" with tool calls, or no reason at all. The
 * content then determines the reason.
 */
function readFinishReason(
  value: unknown,
  o: { readonly hasToolCalls: boolean; readonly refused: boolean },
): FinishReason {
  if (o.refused) return "content_filter";
  const reason = FINISH_REASONS.get(value) ?? "other";
  return o.hasToolCalls && (reason === "stop" || reason === "other") ? "tool_calls" : reason;
}

/** Reads the fields that a whole response and the chunks of a stream share. */
export function readIdentity(document: Fields): Pick<ChatResponse, "responseId" | "modelId"> {
  const { id, model } = document;
  return {
    ...(typeof id === "string" && id !== "" ? { responseId: id } : {}),
    ...(typeof model === "string" && model !== "" ? { modelId: model } : {}),
  };
}

/** Reads the refusal of the message. Absent and null count as empty. */
function readRefusal(message: Fields): string {
  const value = message["refusal"] ?? "";
  if (typeof value !== "string")
    throw new InvalidResponseError("choices[0].message.refusal is not a text", { shown: value });
  return value;
}

/** The text and the reasoning of a message, or of a delta of a stream. */
interface MessageTexts {
  readonly text: string;
  readonly thought: string;
  /** Whether the reasoning has the name of the field in which some servers require it back. */
  readonly isReturned: boolean;
}

/**
 * Reads the text and the reasoning of a message or of a delta. Servers name the field of the
 * reasoning differently, or send a list of texts and reasoning as the content.
 * @throws InvalidResponseError for content of another type
 */
export function readTexts(message: Fields): MessageTexts {
  const content = message["content"] ?? "";
  const thought = asText(message["reasoning_content"]) || asText(message["reasoning"]);
  const isReturned = typeof message["reasoning_content"] === "string";
  if (typeof content === "string") return { text: content, thought, isReturned };
  if (!Array.isArray(content))
    throw new InvalidResponseError("content is neither a text nor a list", { shown: content });
  const parts = content.map((value: unknown) => {
    const part = asFields(value);
    if (part === undefined)
      throw new InvalidResponseError("content has a part that is not an object", { shown: value });
    return part;
  });
  const thoughts = parts.flatMap((part) => asList(part["thinking"]));
  return {
    text: joinTexts(parts.filter(({ type }) => type === "text")),
    thought: thought + joinTexts(thoughts),
    isReturned,
  };
}

function joinTexts(parts: readonly unknown[]): string {
  return parts.map((part) => asText(asFields(part)?.["text"])).join("");
}

/** @throws ErrorDocument if a gateway reports an error in the choice */
export function checkChoice(choice: Fields | undefined): void {
  if (asFields(choice?.["error"]) !== undefined) throw new ErrorDocument(choice);
}

function readToolCall(value: unknown, index: number, responseId: string | undefined): ToolCall {
  const call = asFields(value);
  const target = asFields(call?.["function"]);
  const name = target?.["name"];
  if (typeof name !== "string" || name === "")
    throw new InvalidResponseError(`choices[0].message.tool_calls[${index}] names no function`, {
      shown: value,
    });
  const id = call?.["id"];
  return {
    id: typeof id === "string" && id !== "" ? id : fallbackCallId(responseId, index),
    name,
    arguments: readArguments(target?.["arguments"]),
  };
}

/**
 * Reads a whole response.
 * @throws InvalidResponseError naming the first invalid part
 */
export function readAnswer(document: Fields): ChatResponse {
  const choices = document["choices"];
  if (!Array.isArray(choices) || choices.length === 0)
    throw new InvalidResponseError("The answer has no choices", { shown: document });
  const choice = asFields(choices[0]);
  checkChoice(choice);
  const message = asFields(choice?.["message"]);
  if (message === undefined)
    throw new InvalidResponseError("choices[0] has no message", { shown: choices[0] });
  const calls = message["tool_calls"] ?? [];
  if (!Array.isArray(calls))
    throw new InvalidResponseError("choices[0].message.tool_calls is not a list", { shown: calls });
  const identity = readIdentity(document);
  const toolCalls = calls.map((call, index) => readToolCall(call, index, identity.responseId));
  const refusal = readRefusal(message);
  const { text, thought, isReturned } = readTexts(message);
  return buildResponse({
    content: text,
    reasoning: thought,
    isReturned,
    refusal,
    toolCalls,
    finishReason: choice?.["finish_reason"],
    usage: readUsage(document["usage"]),
    identity,
  });
}

/**
 * Builds a response from its parts. Used for whole and for streamed responses. A refusal replaces
 * the text. Some servers require the reasoning of messages with tool calls in later requests.
 */
export function buildResponse(parts: {
  readonly content: string;
  readonly reasoning: string;
  readonly isReturned: boolean;
  readonly refusal: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: unknown;
  readonly usage: Usage | undefined;
  readonly identity: Pick<ChatResponse, "responseId" | "modelId">;
}): ChatResponse {
  const hasToolCalls = parts.toolCalls.length > 0;
  const data =
    parts.isReturned && hasToolCalls ? { reasoning_content: parts.reasoning } : undefined;
  return {
    message: {
      role: "assistant",
      content: parts.content + parts.refusal,
      ...toolCallsField(parts.toolCalls),
      ...reasoningParts([{ text: parts.reasoning, index: 0, ...(data && { data }) }], {
        provider: "openai",
        modelId: parts.identity.modelId ?? "",
      }),
    },
    finishReason: readFinishReason(parts.finishReason, {
      hasToolCalls,
      refused: parts.refusal !== "",
    }),
    ...(parts.usage === undefined ? {} : { usage: parts.usage }),
    ...reasoningField(parts.reasoning),
    ...parts.identity,
  };
}
