import type OpenAI from "openai";
import type {
  AssistantMessage,
  ChatMessage,
  ToolAnswer,
} from "../../../../contracts/chat-model.js";
import type { ContentPart } from "../../../../contracts/content.js";
import type { Breakpoint, MarkPart } from "../cache-marks.js";
import { withReasoning } from "../../shared/reasoning.js";
import { sentArgumentsText } from "../../shared/wire-fields.js";
import { fileText, mediaUrl, noFormFor, readMedia } from "../../shared/parts.js";
import { asFields } from "../../../../util/objects.js";

type InputItem = OpenAI.Responses.ResponseInputItem;
/** A content part of a user message or of a function output. */
type InputContent =
  | OpenAI.Responses.ResponseInputText
  | OpenAI.Responses.ResponseInputImage
  | OpenAI.Responses.ResponseInputFile;

function toContent(part: ContentPart, mark: MarkPart): InputContent {
  return { ...toUnmarked(part), ...mark(part) };
}

function toUnmarked(part: ContentPart): InputContent {
  if (part.type === "text") return { type: "input_text", text: part.text };
  const content = readMedia(part);
  if (content.kind === "text") return { type: "input_text", text: fileText(content) };
  if (part.type === "image")
    return { type: "input_image", image_url: mediaUrl(content), detail: part.detail ?? "auto" };
  if (part.type === "audio") throw noFormFor(part, "The Responses API");
  return content.kind === "url"
    ? { type: "input_file", file_url: content.url }
    : { type: "input_file", filename: part.name ?? "file", file_data: mediaUrl(content) };
}

function toResult({ toolCallId, content, parts = [] }: ToolAnswer, mark: MarkPart): InputItem {
  const output =
    parts.length === 0
      ? content
      : [
          ...(content === "" ? [] : [{ type: "input_text" as const, text: content }]),
          ...parts.map((part) => toContent(part, mark)),
        ];
  return { type: "function_call_output", call_id: toolCallId, output };
}

/** Returns a marked text as a content part, because a string can't be marked. */
function systemContent(text: string, mark: Breakpoint): string | InputContent[] {
  return mark.prompt_cache_breakpoint === undefined
    ? text
    : [{ type: "input_text", text, ...mark }];
}

/** Returns the message without reasoning of Chat Completions, which is no item of this API. */
function withItemsOnly(message: AssistantMessage): AssistantMessage {
  const reasoning = message.reasoning?.filter(({ data }) => asFields(data)?.["type"] !== undefined);
  return { ...message, reasoning };
}

function toItems(message: ChatMessage, mark: MarkPart): readonly InputItem[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: systemContent(message.content, mark(message)) }];
    case "user":
      return [
        {
          role: "user",
          content:
            typeof message.content === "string"
              ? message.content
              : message.content.map((part) => toContent(part, mark)),
        },
      ];
    case "tool":
      return [toResult(message, mark)];
    case "assistant": {
      const calls = (message.toolCalls ?? []).map((call): InputItem => ({
        type: "function_call",
        call_id: call.id,
        name: call.name,
        arguments: sentArgumentsText(call),
      }));
      const items: readonly InputItem[] =
        message.content === "" && calls.length > 0
          ? calls
          : [{ role: "assistant", content: message.content }, ...calls];
      return withReasoning(withItemsOnly(message), "openai", items);
    }
  }
}

/**
 * Converts the conversation into items of the Responses API. Tool calls and their results become
 * separate items.
 */
export function toInputItems(messages: readonly ChatMessage[], mark: MarkPart): InputItem[] {
  return messages.flatMap((message) => toItems(message, mark));
}
