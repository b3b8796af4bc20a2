import type { Anthropic } from "@anthropic-ai/sdk";
import type {
  AssistantMessage,
  ChatMessage,
  ToolAnswer,
  ToolCall,
} from "../../../contracts/chat-model.js";
import type { ContentPart, MediaPart } from "../../../contracts/content.js";
import { noFormFor, readMedia, type PartContent } from "../shared/parts.js";
import { markOf } from "./cache-marks.js";
import { withReasoning } from "../shared/reasoning.js";
import { sentArguments } from "../shared/wire-fields.js";

type WireMessage = Anthropic.MessageParam;
type WireBlock = Anthropic.ContentBlockParam;
type MediaBlock = Anthropic.ImageBlockParam | Anthropic.DocumentBlockParam;
type ImageMediaType = Anthropic.Base64ImageSource["media_type"];

/** Omits blank texts, because the vendor rejects them. */
function textBlocks(text: string): readonly Anthropic.TextBlockParam[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function toMedia(part: MediaPart): MediaBlock {
  const content = readMedia(part);
  if (part.type === "audio") throw noFormFor(part, "The Messages API");
  if (part.type === "image" && content.kind !== "text") {
    if (content.kind === "url") return { type: "image", source: { type: "url", url: content.url } };
    const { mediaType, data } = content;
    // The vendor itself rejects an unknown type.
    return {
      type: "image",
      source: { type: "base64", media_type: mediaType as ImageMediaType, data },
    };
  }
  return { type: "document", source: documentSource(content), ...documentTitle(part) };
}

function documentSource(content: PartContent): Anthropic.DocumentBlockParam["source"] {
  switch (content.kind) {
    case "text":
      return { type: "text", media_type: "text/plain", data: content.text };
    case "url":
      return { type: "url", url: content.url };
    case "base64":
      // The vendor itself rejects a document that is no PDF.
      return { type: "base64", media_type: "application/pdf", data: content.data };
  }
}

function documentTitle(part: MediaPart): { readonly title?: string } {
  return part.type === "file" && part.name !== undefined ? { title: part.name } : {};
}

function toBlocks(part: ContentPart): readonly (Anthropic.TextBlockParam | MediaBlock)[] {
  const blocks = part.type === "text" ? textBlocks(part.text) : [toMedia(part)];
  return blocks.map((block) => ({ ...block, ...markOf(part.cache) }));
}

function toToolUse(call: ToolCall): WireBlock {
  return { type: "tool_use", id: call.id, name: call.name, input: sentArguments(call) };
}

function toToolResult(message: ToolAnswer): Anthropic.ToolResultBlockParam {
  const { content, parts = [] } = message;
  const blocks = [...textBlocks(content), ...parts.flatMap(toBlocks)];
  return {
    type: "tool_result",
    tool_use_id: message.toolCallId,
    ...(parts.length > 0 ? { content: blocks } : content === "" ? {} : { content }),
    ...(message.isError === true ? { is_error: true } : {}),
  };
}

/**
 * Inserts the blocks of thinking. The vendor refuses thinking as the last block, and permits a turn
 * without thinking. The last block is thinking if more text followed it, because all texts form one
 * block.
 */
function withThinking(message: AssistantMessage, others: WireBlock[]): WireBlock[] {
  const blocks = [...withReasoning(message, "anthropic", others)];
  const last = blocks.at(-1)?.type;
  return last === "thinking" || last === "redacted_thinking" ? others : blocks;
}

/** The settings that affect the form of messages. */
export interface WireSettings {
  /** Whether the model may think. If so, its earlier reasoning is sent back. */
  readonly thinks: boolean;
  /** Whether the last message is written in blocks, because only a block can be marked. */
  readonly endsAsBlock: boolean;
}

function toWireMessage(message: ChatMessage, o: WireSettings): WireMessage | undefined {
  switch (message.role) {
    case "system":
      return undefined;
    case "user":
      return {
        role: "user",
        content:
          typeof message.content === "string" ? message.content : message.content.flatMap(toBlocks),
      };
    case "tool":
      return { role: "user", content: [toToolResult(message)] };
    case "assistant": {
      const others = [...textBlocks(message.content), ...(message.toolCalls ?? []).map(toToolUse)];
      const content = o.thinks ? withThinking(message, others) : others;
      return content.length === 0 ? undefined : { role: "assistant", content };
    }
  }
}

/**
 * Converts the conversation without its system messages into the vendor's form. The results of one
 * turn's tool calls form one message.
 */
export function toWireMessages(messages: readonly ChatMessage[], o: WireSettings): WireMessage[] {
  const result: WireMessage[] = [];
  let openResults: WireBlock[] | undefined;
  for (const message of messages) {
    const wire = toWireMessage(message, o);
    if (wire === undefined) continue;
    const blocks =
      message.role === "tool" && Array.isArray(wire.content) ? wire.content : undefined;
    if (blocks !== undefined && openResults !== undefined) {
      openResults.push(...blocks);
      continue;
    }
    openResults = blocks;
    result.push(wire);
  }
  if (o.endsAsBlock) asBlocks(result.at(-1));
  return result;
}

/** Changes the text of a message into a block, which can be marked. */
function asBlocks(message: WireMessage | undefined): void {
  if (typeof message?.content === "string") message.content = [...textBlocks(message.content)];
}

/** Converts the system messages at any position into the vendor's form. */
export function toSystemBlocks(
  messages: readonly ChatMessage[],
): readonly Anthropic.TextBlockParam[] {
  return messages.flatMap((message) =>
    message.role === "system"
      ? textBlocks(message.content).map((block) => ({ ...block, ...markOf(message.cache) }))
      : [],
  );
}
