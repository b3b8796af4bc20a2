import type OpenAI from "openai";
import type { ChatMessage, ContentPart } from "../../../../contracts/chat-model.js";
import { imageURL } from "../../shared/image-source.js";

type ChatWireMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type WirePart = OpenAI.Chat.Completions.ChatCompletionContentPart;

function toWirePart(part: ContentPart): WirePart {
  return part.type === "text"
    ? { type: "text", text: part.text }
    : { type: "image_url", image_url: { url: imageURL(part) } };
}

function toWireMessage(message: ChatMessage): ChatWireMessage {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.content };
    case "user":
      return {
        role: "user",
        content:
          typeof message.content === "string" ? message.content : message.content.map(toWirePart),
      };
    case "tool":
      return { role: "tool", tool_call_id: message.toolCallId, content: message.content };
    case "assistant": {
      const calls = message.toolCalls ?? [];
      if (calls.length === 0) return { role: "assistant", content: message.content };
      return {
        role: "assistant",
        content: message.content === "" ? null : message.content,
        tool_calls: calls.map((call) => ({
          id: call.id,
          type: "function" as const,
          function: { name: call.name, arguments: call.arguments },
        })),
      };
    }
  }
}

/** Converts the conversation into the vendor's form. */
export function toWireMessages(messages: readonly ChatMessage[]): ChatWireMessage[] {
  return messages.map(toWireMessage);
}
