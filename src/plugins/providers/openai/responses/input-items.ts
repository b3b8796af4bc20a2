import type OpenAI from "openai";
import type { ChatMessage, ContentPart } from "../../../../contracts/chat-model.js";
import { imageURL } from "../../shared/image-source.js";

type InputItem = OpenAI.Responses.ResponseInputItem;
type InputContent = OpenAI.Responses.ResponseInputContent;

function toContent(part: ContentPart): InputContent {
  return part.type === "text"
    ? { type: "input_text", text: part.text }
    : { type: "input_image", image_url: imageURL(part), detail: "auto" };
}

function toItems(message: ChatMessage): readonly InputItem[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user":
      return [
        {
          role: "user",
          content:
            typeof message.content === "string" ? message.content : message.content.map(toContent),
        },
      ];
    case "tool":
      return [
        { type: "function_call_output", call_id: message.toolCallId, output: message.content },
      ];
    case "assistant": {
      const calls = (message.toolCalls ?? []).map((call): InputItem => ({
        type: "function_call",
        call_id: call.id,
        name: call.name,
        arguments: call.arguments,
      }));
      return message.content === "" && calls.length > 0
        ? calls
        : [{ role: "assistant", content: message.content }, ...calls];
    }
  }
}

/**
 * Converts the conversation into items of the Responses API, where tool calls and their results are
 * separate items.
 */
export function toInputItems(messages: readonly ChatMessage[]): InputItem[] {
  return messages.flatMap(toItems);
}
