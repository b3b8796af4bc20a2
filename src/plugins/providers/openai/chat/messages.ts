import type OpenAI from "openai";
import type {
  AssistantMessage,
  ChatMessage,
  ToolAnswer,
} from "../../../../contracts/chat-model.js";
import type { ContentPart } from "../../../../contracts/content.js";
import type { Breakpoint, MarkPart } from "../cache-marks.js";
import { sentArgumentsText } from "../../shared/wire-fields.js";
import { fileText, mediaUrl, noFormFor, readMedia } from "../../shared/parts.js";
import { asFields } from "../../../../util/objects.js";

type ChatWireMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type WirePart = OpenAI.Chat.Completions.ChatCompletionContentPart;

const AUDIO_FORMATS: Readonly<Record<string, "wav" | "mp3">> = {
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
};

function toWirePart(part: ContentPart, mark: MarkPart): WirePart {
  return { ...toUnmarked(part), ...mark(part) };
}

function toUnmarked(part: ContentPart): WirePart {
  if (part.type === "text") return { type: "text", text: part.text };
  const content = readMedia(part);
  if (content.kind === "text") return { type: "text", text: fileText(content) };
  if (part.type === "image") {
    const detail = part.detail === undefined ? {} : { detail: part.detail };
    return { type: "image_url", image_url: { url: mediaUrl(content), ...detail } };
  }
  if (content.kind === "url") throw noFormFor(part, "Chat Completions");
  if (part.type === "file")
    return {
      type: "file",
      file: { filename: part.name ?? "file", file_data: mediaUrl(content) },
    };
  const format = AUDIO_FORMATS[content.mediaType];
  if (format === undefined) throw noFormFor(part, "Chat Completions");
  return { type: "input_audio", input_audio: { data: content.data, format } };
}

/**
 * Returns the parts of a tool result, which follow it in a user message. A tool result itself can
 * only be text.
 */
function toResultParts({ toolName, parts = [] }: ToolAnswer, mark: MarkPart): readonly WirePart[] {
  return parts.length === 0
    ? []
    : [
        { type: "text", text: `Result of the tool ${toolName}:` },
        ...parts.map((part) => toWirePart(part, mark)),
      ];
}

/** Returns the content of a system message: a part if the text is marked, otherwise a string. */
function systemContent(
  text: string,
  mark: Breakpoint,
): OpenAI.Chat.Completions.ChatCompletionSystemMessageParam["content"] {
  return mark.prompt_cache_breakpoint === undefined ? text : [{ type: "text", text, ...mark }];
}

/**
 * Returns the field for the reasoning that a server may require back. Only the same model receives
 * it, because other servers refuse the field.
 */
function returnedReasoning(
  { reasoning = [] }: AssistantMessage,
  modelId: string,
): { readonly reasoning_content?: string } {
  const own = reasoning.find((part) => part.provider === "openai" && part.modelId === modelId);
  const text = asFields(own?.data)?.["reasoning_content"];
  return typeof text === "string" ? { reasoning_content: text } : {};
}

/** The settings that affect the form of messages. */
interface ChatWireSettings {
  readonly mark: MarkPart;
  /** The model that receives the messages. */
  readonly modelId: string;
}

function toWireMessage(message: ChatMessage, { mark, modelId }: ChatWireSettings): ChatWireMessage {
  switch (message.role) {
    case "system":
      return { role: "system", content: systemContent(message.content, mark(message)) };
    case "user":
      return {
        role: "user",
        content:
          typeof message.content === "string"
            ? message.content
            : message.content.map((part) => toWirePart(part, mark)),
      };
    case "tool":
      return { role: "tool", tool_call_id: message.toolCallId, content: message.content };
    case "assistant": {
      const calls = message.toolCalls ?? [];
      if (calls.length === 0) return { role: "assistant", content: message.content };
      return {
        role: "assistant",
        content: message.content === "" ? null : message.content,
        ...returnedReasoning(message, modelId),
        tool_calls: calls.map((call) => ({
          id: call.id,
          type: "function" as const,
          function: { name: call.name, arguments: sentArgumentsText(call) },
        })),
      };
    }
  }
}

/**
 * Converts the conversation into the vendor's form. Parts of the tool results of one turn follow
 * all results of the turn, in one message.
 */
export function toWireMessages(
  messages: readonly ChatMessage[],
  settings: ChatWireSettings,
): ChatWireMessage[] {
  const result: ChatWireMessage[] = [];
  let open: WirePart[] = [];
  const close = (): void => {
    if (open.length > 0) result.push({ role: "user", content: open });
    open = [];
  };
  for (const message of messages) {
    if (message.role !== "tool") close();
    result.push(toWireMessage(message, settings));
    if (message.role === "tool") open.push(...toResultParts(message, settings.mark));
  }
  close();
  return result;
}
