import type {
  ChatResponse,
  FinishReason,
  ToolCall,
  Usage,
} from "../../../../contracts/chat-model.js";
import type { Fields } from "../../../../util/objects.js";
import type { JsonValue } from "../../../../contracts/content.js";
import { reasoningParts, reasoningText, type ReasoningBlock } from "../../shared/reasoning.js";
import { InvalidResponseError } from "../../shared/invalid-response-error.js";
import {
  fallbackCallId,
  readArguments,
  reasoningField,
  reportedFields,
  toolCallsField,
} from "../../shared/wire-fields.js";
import { asFields, asList, asText, asCount } from "../../../../util/objects.js";

const UNFINISHED: ReadonlySet<string> = new Set(["queued", "in_progress", "cancelled"]);

/** The fields of a response apart from its content. The end of a stream has the same document. */
export type AnswerFrame = Pick<ChatResponse, "responseId" | "modelId" | "usage" | "reasoning"> & {
  readonly stopped: FinishReason;
  readonly blocks: readonly ReasoningBlock[];
};
type JsonObject = Extract<JsonValue, { readonly [key: string]: JsonValue }>;

function readUsage(value: unknown): Usage | undefined {
  const usage = asFields(value) ?? {};
  return reportedFields<Usage>({
    inputTokens: asCount(usage["input_tokens"]),
    outputTokens: asCount(usage["output_tokens"]),
    cachedInputTokens: asCount(asFields(usage["input_tokens_details"])?.["cached_tokens"]),
    cacheWriteInputTokens: asCount(asFields(usage["input_tokens_details"])?.["cache_write_tokens"]),
    reasoningTokens: asCount(asFields(usage["output_tokens_details"])?.["reasoning_tokens"]),
  });
}

function readStop(document: Fields): FinishReason {
  const reason = asFields(document["incomplete_details"])?.["reason"];
  if (reason === "content_filter") return "content_filter";
  // Also applies if the server states no reason, because the response is not complete.
  if (document["status"] === "incomplete") return "length";
  return document["status"] === "completed" ? "stop" : "other";
}

/**
 * @throws InvalidResponseError for a response that failed, was cancelled or is still in progress
 */
export function checkEnded(document: Fields): void {
  const { status } = document;
  if (status === "failed")
    throw new InvalidResponseError("The answer failed, and the server reported no reason", {
      shown: document,
    });
  if (typeof status === "string" && UNFINISHED.has(status))
    throw new InvalidResponseError(`The answer is not complete: its status is '${status}'`, {
      shown: document,
    });
}

/**
 * Returns the items of the output.
 * @throws InvalidResponseError if there are none
 */
export function readOutput(document: Fields): readonly Fields[] {
  const output = document["output"];
  if (!Array.isArray(output) || (output.length === 0 && document["status"] === "completed"))
    throw new InvalidResponseError("The answer has no output", { shown: document });
  return output.map((item) => asFields(item) ?? {});
}

/** Reads the fields of a response apart from its content. */
export function readFrame(document: Fields): AnswerFrame {
  const id = asText(document["id"]);
  const model = asText(document["model"]);
  const usage = readUsage(document["usage"]);
  return {
    stopped: readStop(document),
    ...(id === "" ? {} : { responseId: id }),
    ...(model === "" ? {} : { modelId: model }),
    ...(usage === undefined ? {} : { usage }),
    ...reasoningField(reasoningText(readReasoningItems(document))),
    blocks: readReasoningItems(document),
  };
}

/** Returns the text of an item of reasoning: its summaries, then its contents. */
export function thoughtOf(item: Fields): string {
  const parts = [...asList(item["summary"]), ...asList(item["content"])];
  const texts = parts.map((part) => asText(asFields(part)?.["text"]));
  return texts.filter((text) => text !== "").join("\n\n");
}

/**
 * Returns the items of the reasoning of the model. Only encrypted items are sent back, unchanged.
 */
function readReasoningItems(document: Fields): readonly ReasoningBlock[] {
  const blocks: ReasoningBlock[] = [];
  let others = 0;
  let hasText = false;
  for (const item of asList(document["output"]).map((value) => asFields(value) ?? {})) {
    if (item["type"] === "function_call" || (item["type"] === "message" && !hasText)) others++;
    hasText ||= item["type"] === "message";
    if (item["type"] !== "reasoning") continue;
    const text = thoughtOf(item);
    const index = others + blocks.length;
    const isSent = asText(item["encrypted_content"]) !== "";
    blocks.push(isSent ? { text, index, data: item as JsonObject } : { text, index }); // parsed from JSON
  }
  return blocks;
}

/** Returns the texts of a message's parts: its content and its refusal. */
export function readMessageText(item: Fields): { readonly text: string; readonly refusal: string } {
  const parts = asList(item["content"]).map((part) => asFields(part) ?? {});
  return {
    text: parts.map((part) => asText(part["text"])).join(""),
    refusal: parts.map((part) => asText(part["refusal"])).join(""),
  };
}

/**
 * Reads a function call.
 * @throws InvalidResponseError if it names no function
 */
export function readFunctionCall(
  item: Fields,
  index: number,
  responseId: string | undefined,
): ToolCall {
  const name = asText(item["name"]);
  if (name === "")
    throw new InvalidResponseError("A function call of the output names no function", {
      shown: item,
    });
  const id = asText(item["call_id"]);
  return {
    id: id === "" ? fallbackCallId(responseId, index) : id,
    name,
    arguments: readArguments(item["arguments"]),
  };
}

/**
 * Builds a response from its parts. Used for whole and for streamed responses. A refusal replaces
 * the text.
 */
export function buildResponse(o: {
  readonly text: string;
  readonly refusal: string;
  readonly toolCalls: readonly ToolCall[];
  readonly frame: AnswerFrame;
}): ChatResponse {
  const { stopped, blocks, ...identity } = o.frame;
  const asked: FinishReason =
    o.toolCalls.length > 0 && stopped !== "length" && stopped !== "content_filter"
      ? "tool_calls"
      : stopped;
  return {
    message: {
      role: "assistant",
      content: o.text + o.refusal,
      ...toolCallsField(o.toolCalls),
      ...reasoningParts(blocks, { provider: "openai", modelId: identity.modelId ?? "" }),
    },
    finishReason: o.refusal === "" ? asked : "content_filter",
    ...identity,
  };
}

/**
 * Reads a whole response.
 * @throws InvalidResponseError naming the first invalid part
 */
export function readAnswer(document: Fields): ChatResponse {
  checkEnded(document);
  const items = readOutput(document);
  const frame = readFrame(document);
  const messages = items.filter((item) => item["type"] === "message").map(readMessageText);
  const calls = items.filter((item) => item["type"] === "function_call");
  return buildResponse({
    text: messages.map((message) => message.text).join(""),
    refusal: messages.map((message) => message.refusal).join(""),
    toolCalls: calls.map((call, index) => readFunctionCall(call, index, frame.responseId)),
    frame,
  });
}
