import type { ChatResponse, FinishReason, ToolCall, Usage } from "../../../contracts/chat-model.js";
import type { Fields } from "../../../util/objects.js";
import { reasoningParts, reasoningText, type ReasoningBlock } from "../shared/reasoning.js";
import { InvalidResponseError } from "../shared/invalid-response-error.js";
import {
  fallbackCallId,
  readArguments,
  reasoningField,
  reportedFields,
  toolCallsField,
} from "../shared/wire-fields.js";
import { asFields, asText, asCount } from "../../../util/objects.js";

const FINISH_REASONS: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "content_filter"],
]);

/**
 * Reads the reported usage. The vendor counts tokens read from and written to its cache separately.
 * The framework includes them in the input tokens.
 */
function readUsage(value: unknown): Usage | undefined {
  const usage = asFields(value) ?? {};
  const fresh = asCount(usage["input_tokens"]);
  const cached = asCount(usage["cache_read_input_tokens"]);
  const written = asCount(usage["cache_creation_input_tokens"]);
  return reportedFields<Usage>({
    inputTokens: fresh === undefined ? undefined : fresh + (cached ?? 0) + (written ?? 0),
    outputTokens: asCount(usage["output_tokens"]),
    cachedInputTokens: cached,
    cacheWriteInputTokens: written,
    reasoningTokens: asCount(asFields(usage["output_tokens_details"])?.["thinking_tokens"]),
  });
}

/** Reads the fields that a whole response and the beginning of a stream share. */
export function readIdentity(message: Fields): Pick<ChatResponse, "responseId" | "modelId"> {
  const id = asText(message["id"]);
  const model = asText(message["model"]);
  return { ...(id === "" ? {} : { responseId: id }), ...(model === "" ? {} : { modelId: model }) };
}

/** Builds a response from its parts. Used for whole and for streamed responses. */
export function buildResponse(o: {
  readonly text: string;
  readonly reasoning: readonly ReasoningBlock[];
  readonly toolCalls: readonly ToolCall[];
  readonly stopReason: unknown;
  readonly usage: unknown;
  readonly identity: Pick<ChatResponse, "responseId" | "modelId">;
}): ChatResponse {
  const reason = FINISH_REASONS.get(o.stopReason) ?? "other";
  const isAsking = o.toolCalls.length > 0 && (reason === "stop" || reason === "other");
  const usage = readUsage(o.usage);
  return {
    message: {
      role: "assistant",
      content: o.text,
      ...toolCallsField(o.toolCalls),
      ...reasoningParts(o.reasoning, {
        provider: "anthropic",
        modelId: o.identity.modelId ?? "",
      }),
    },
    finishReason: isAsking ? "tool_calls" : reason,
    ...(usage === undefined ? {} : { usage }),
    ...reasoningField(reasoningText(o.reasoning)),
    ...o.identity,
  };
}

/**
 * Returns the id and name of a call.
 * @throws InvalidResponseError if it names no tool
 */
export function readToolUse(
  block: Fields,
  index: number,
  responseId: string | undefined,
): Pick<ToolCall, "id" | "name"> {
  const name = asText(block["name"]);
  if (name === "")
    throw new InvalidResponseError("A tool_use block of the answer names no tool", {
      shown: block,
    });
  const id = asText(block["id"]);
  return { id: id === "" ? fallbackCallId(responseId, index) : id, name };
}

/** Returns whether a block holds reasoning, shown or hidden. */
export function isReasoning({ type }: Fields): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/** Reads a block of reasoning. Only a signed or an encrypted block is sent back. */
export function readReasoning(block: Fields, index: number): ReasoningBlock {
  const { type, thinking, signature, data } = block;
  const text = asText(thinking);
  if (type === "redacted_thinking") return { text, index, data: { type, data: asText(data) } };
  return typeof signature === "string" && signature !== ""
    ? { text, index, data: { type: "thinking", thinking: text, signature } }
    : { text, index };
}

/** Returns the number of blocks that a text becomes in later requests. */
export function blocksOfText(text: string): 0 | 1 {
  return text.trim() === "" ? 0 : 1; // the vendor refuses blank texts
}

/**
 * Reads a whole response.
 * @throws InvalidResponseError naming the first invalid part
 */
export function readAnswer(message: Fields): ChatResponse {
  const content = message["content"];
  if (!Array.isArray(content))
    throw new InvalidResponseError("The answer has no content", { shown: message });
  const identity = readIdentity(message);
  const texts: string[] = [];
  const reasoning: ReasoningBlock[] = [];
  const toolCalls: ToolCall[] = [];
  for (const [index, value] of content.entries()) {
    const block = asFields(value);
    if (block === undefined)
      throw new InvalidResponseError(`content[${index}] is not a block`, { shown: value });
    if (block["type"] === "tool_use") {
      toolCalls.push({
        ...readToolUse(block, toolCalls.length, identity.responseId),
        arguments: readArguments(block["input"]),
      });
    } else if (isReasoning(block)) {
      reasoning.push(
        readReasoning(block, blocksOfText(texts.join("")) + toolCalls.length + reasoning.length),
      );
    } else if (block["type"] === "text") {
      if (typeof block["text"] !== "string")
        throw new InvalidResponseError(`content[${index}].text is not a text`, {
          shown: block["text"],
        });
      texts.push(block["text"]);
    }
  }
  return buildResponse({
    text: texts.join(""),
    reasoning,
    toolCalls,
    stopReason: message["stop_reason"],
    usage: message["usage"],
    identity,
  });
}
