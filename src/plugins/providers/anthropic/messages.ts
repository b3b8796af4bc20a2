import type { Anthropic } from "@anthropic-ai/sdk";
import type { ChatMessage, ContentPart, ToolCall } from "../../../contracts/chat-model.js";
import { imageSource } from "../shared/image-source.js";
import { asFields } from "../../../util/objects.js";

type WireMessage = Anthropic.MessageParam;
type WireBlock = Anthropic.ContentBlockParam;
type ImageMediaType = Anthropic.Base64ImageSource["media_type"];

/** The vendor refuses blocks of blank text. */
function textBlocks(text: string): readonly Anthropic.TextBlockParam[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function toBlocks(part: ContentPart): readonly WireBlock[] {
  if (part.type === "text") return textBlocks(part.text);
  const source = imageSource(part);
  if (source.kind === "url") return [{ type: "image", source: { type: "url", url: source.url } }];
  // A type that the vendor does not know is for the vendor to refuse.
  return [
    {
      type: "image",
      source: { type: "base64", media_type: source.mediaType as ImageMediaType, data: source.data },
    },
  ];
}

/** The arguments as the object that the vendor demands; of a call that went wrong the text as the model wrote it. */
function toInput(call: ToolCall): object {
  try {
    const input = asFields(JSON.parse(call.arguments));
    if (input !== undefined) return input;
  } catch {
    // Broken arguments: the tool's result tells the model so.
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

/** The conversation in the vendor's form, without its system messages. The results of one turn's tool calls stand in one message. */
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

/** The system messages in the vendor's form, wherever they stand in the conversation. */
export function toSystemBlocks(
  messages: readonly ChatMessage[],
): readonly Anthropic.TextBlockParam[] {
  return messages.flatMap((message) =>
    message.role === "system" ? textBlocks(message.content) : [],
  );
}
