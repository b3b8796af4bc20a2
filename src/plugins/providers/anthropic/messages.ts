import type { Anthropic } from "@anthropic-ai/sdk";
import type { ChatMessage, ContentPart, ToolCall } from "../../../contracts/chat-model.js";
import { imageSource } from "../shared/image-source.js";
import { asFields } from "../../../util/objects.js";

type WireMessage = Anthropic.MessageParam;
type WireBlock = Anthropic.ContentBlockParam;
type ImageMediaType = Anthropic.Base64ImageSource["media_type"];

/** Omits blank texts, because the vendor rejects them. */
function textBlocks(text: string): readonly Anthropic.TextBlockParam[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function toBlocks(part: ContentPart): readonly WireBlock[] {
  if (part.type === "text") return textBlocks(part.text);
  const source = imageSource(part);
  if (source.kind === "url") return [{ type: "image", source: { type: "url", url: source.url } }];
  // The vendor itself rejects an unknown type.
  return [
    {
      type: "image",
      source: { type: "base64", media_type: source.mediaType as ImageMediaType, data: source.data },
    },
  ];
}

/**
 * Returns the arguments as the object that the vendor requires. Invalid arguments become an object
 * with the model's text.
 */
function toInput(call: ToolCall): object {
  try {
    const input = asFields(JSON.parse(call.arguments));
    if (input !== undefined) return input;
  } catch {
    // For invalid arguments, the tool's result reports the problem to the model.
  }
  return { arguments: call.arguments };
}

function toToolUse(call: ToolCall): WireBlock {
  return { type: "tool_use", id: call.id, name: call.name, input: toInput(call) };
}

function toToolResult(
  message: ChatMessage & { readonly role: "tool" },
): Anthropic.ToolResultBlockParam {
  return {
    type: "tool_result",
    tool_use_id: message.toolCallId,
    ...(message.content === "" ? {} : { content: message.content }),
    ...(message.isError === true ? { is_error: true } : {}),
  };
}

function toWireMessage(message: ChatMessage): WireMessage | undefined {
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
      const content = [...textBlocks(message.content), ...(message.toolCalls ?? []).map(toToolUse)];
      return content.length === 0 ? undefined : { role: "assistant", content };
    }
  }
}

/**
 * Converts the conversation without its system messages into the vendor's form. The results of one
 * turn's tool calls form one message.
 */
export function toWireMessages(messages: readonly ChatMessage[]): WireMessage[] {
  const result: WireMessage[] = [];
  let openResults: WireBlock[] | undefined;
  for (const message of messages) {
    const wire = toWireMessage(message);
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
  return result;
}

/** Converts the system messages at any position into the vendor's form. */
export function toSystemBlocks(
  messages: readonly ChatMessage[],
): readonly Anthropic.TextBlockParam[] {
  return messages.flatMap((message) =>
    message.role === "system" ? textBlocks(message.content) : [],
  );
}
