import type { ChatMessage, ChatRequest, ChatResponse } from "../../../contracts/chat-model.js";
import type { MediaPart } from "../../../contracts/content.js";
import { ATTRIBUTES } from "./semantic-names.js";

type Redact = (text: string) => string;
type MessagePart = Readonly<Record<string, unknown>>;
type Attributes = Readonly<Record<string, string>>;

const text = (content: string, redact: Redact): MessagePart => ({
  type: "text",
  content: redact(content),
});

function partsOf(message: ChatMessage, redact: Redact): readonly MessagePart[] {
  if (message.role === "tool")
    return [
      { type: "tool_call_response", id: message.toolCallId, response: redact(message.content) },
    ];
  if (message.role === "assistant") {
    const calls = (message.toolCalls ?? []).map(({ id, name, arguments: args }) => ({
      type: "tool_call",
      id,
      name,
      arguments: redact(args),
    }));
    return [...(message.content === "" ? [] : [text(message.content, redact)]), ...calls];
  }
  if (typeof message.content === "string") return [text(message.content, redact)];
  // Files are named, not copied. They are large and not useful in a trace.
  return message.content.map((part) =>
    part.type === "text"
      ? text(part.text, redact)
      : {
          type: "blob",
          modality: modalityOf(part),
          mime_type: part.mediaType ?? null,
          content: "",
        },
  );
}

/**
 * Returns the kind of the data. The conventions define `image`, `audio` and `video`, and allow
 * other values.
 */
function modalityOf(part: MediaPart): string {
  if (part.type !== "file") return part.type;
  return /^(image|audio|video)\//.exec(part.mediaType)?.[1] ?? "document";
}

/** Returns the request of a model in the form of the conventions: JSON of messages with parts. */
export function requestContent({ messages, tools }: ChatRequest, redact: Redact): Attributes {
  const system = messages
    .filter(({ role }) => role === "system")
    .flatMap((message) => partsOf(message, redact));
  const rest = messages
    .filter(({ role }) => role !== "system")
    .map((message) => ({ role: message.role, parts: partsOf(message, redact) }));
  return {
    ...(system.length > 0 && { [ATTRIBUTES.systemInstructions]: JSON.stringify(system) }),
    [ATTRIBUTES.inputMessages]: JSON.stringify(rest),
    ...(tools !== undefined &&
      tools.length > 0 && {
        [ATTRIBUTES.toolDefinitions]: JSON.stringify(
          tools.map(({ name, description }) => ({
            type: "function",
            name,
            description: redact(description),
          })),
        ),
      }),
  };
}

/** Returns the response of a model in the same form. */
export function responseContent(
  { message, finishReason }: ChatResponse,
  redact: Redact,
): Attributes {
  return {
    [ATTRIBUTES.outputMessages]: JSON.stringify([
      { role: "assistant", parts: partsOf(message, redact), finish_reason: finishReason },
    ]),
  };
}
