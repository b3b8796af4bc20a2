import type { ThreadMessage } from "../../../contracts/conversation.js";
import type { ContentPart, MediaPart } from "../../../contracts/content.js";
import type { UIChunk, UIMessageLike, UIMessagesOptions } from "../../../contracts/ui-stream.js";
import { checkOptions, requireBoolean, requireOneOf } from "../../../contracts/validation.js";
import { mediaSourceOf, mediaTypeOfBase64 } from "../../../util/media.js";
import { AnswerParts } from "./answer-parts.js";

/**
 * Returns the messages of a thread as UI messages of the AI SDK. Each message of the user becomes
 * one message. The complete answer of each turn becomes one message with the id `{turnId}-a`, with
 * the same parts as its stream. Omits input and output of private tools, and of turns that were not
 * streamed.
 *
 * @throws ValidationError for unknown options.
 */
export function toUIMessages(
  messages: readonly ThreadMessage[],
  o: UIMessagesOptions = {},
): readonly UIMessageLike[] {
  checkOptions("toUIMessages", o, ["reasoning", "sources", "tools"]);
  requireBoolean("toUIMessages reasoning", o.reasoning);
  requireBoolean("toUIMessages sources", o.sources);
  requireOneOf("toUIMessages tools", o.tools, ["full", "names", "none"]);
  const shown: UIMessageLike[] = [];
  let answer: { readonly turnId: string; readonly parts: AnswerParts } | undefined;
  const end = (): void => {
    if (answer === undefined) return;
    const { turnId, parts } = answer;
    shown.push({
      id: `${turnId}-a`,
      role: "assistant",
      parts: parts.end(),
      metadata: { turnId },
    });
    answer = undefined;
  };
  for (const message of messages) {
    const { turnId } = message;
    if (answer?.turnId !== turnId) end();
    if (message.role === "user") {
      end();
      shown.push({ id: message.id, role: "user", parts: userParts(message.content) });
    } else {
      answer ??= { turnId, parts: new AnswerParts(o) };
      if (message.role === "assistant") answer.parts.said(message);
      else answer.parts.returned(message);
    }
  }
  end();
  return shown;
}

/** Returns the parts of a message of a user. */
export function userParts(content: string | readonly ContentPart[]): readonly UIChunk[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part) =>
    part.type === "text" ? { type: "text", text: part.text } : filePart(part),
  );
}

function filePart(part: MediaPart): UIChunk {
  const source = mediaSourceOf(part.data);
  const found = source.kind === "base64" ? mediaTypeOfBase64(source.data) : undefined;
  const mediaType = part.mediaType ?? source.mediaType ?? found ?? `${part.type}/*`;
  return {
    type: "file",
    mediaType,
    url: source.kind === "url" ? source.url : `data:${mediaType};base64,${source.data}`,
    ...(part.type === "file" && part.name !== undefined && { filename: part.name }),
  };
}
