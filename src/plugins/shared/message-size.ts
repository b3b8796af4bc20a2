import type { ChatMessage } from "../../contracts/chat-model.js";
import type { ContentPart, MediaPart } from "../../contracts/content.js";
import { isTextType, mediaSourceOf, normalMediaType } from "../../util/media.js";

/** The parts of a message for a count of its tokens. */
export interface MessageSize {
  /** The texts that the model reads, for a token counter, including text files. */
  readonly text: string;
  /** The estimated tokens of images, documents and audio. */
  readonly fileTokens: number;
}

/** Tokens of an image, and of a document that is given by its address. */
const IMAGE = 1_600;
const ADDRESS = 2_500;
/**
 * A document has 2,500 tokens per 100 kB. Audio has 25 tokens per 32 kB, which is about a second.
 */
const PER_BYTE = { file: 2_500 / 100_000, audio: 25 / 32_000 } as const;

/** Measures a message. Images and documents have no exact size, so fixed rules apply. */
export function messageSize(message: ChatMessage): MessageSize {
  const texts: string[] = [];
  let fileTokens = 0;
  const add = (part: ContentPart): void => {
    const text = part.type === "text" ? part.text : textFileContent(part);
    if (text === undefined)
      fileTokens += tokensOfFile(part as MediaPart); // text parts were handled above
    else texts.push(text);
  };
  if (typeof message.content === "string") texts.push(message.content);
  else message.content.forEach(add);
  if (message.role === "tool") message.parts?.forEach(add);
  if (message.role === "assistant")
    for (const call of message.toolCalls ?? []) texts.push(`${call.name} ${call.arguments}`);
  return { text: texts.join("\n"), fileTokens };
}

/** The content of a text file; `undefined` for other files and for addresses. */
function textFileContent(part: MediaPart): string | undefined {
  if (part.type !== "file" || !isTextType(normalMediaType(part.mediaType) ?? "")) return undefined;
  const source = mediaSourceOf(part.data);
  return source.kind === "url" ? undefined : Buffer.from(source.data, "base64").toString("utf8");
}

function tokensOfFile({ type, data }: MediaPart): number {
  if (type === "image") return IMAGE;
  const source = mediaSourceOf(data);
  if (source.kind === "url") return ADDRESS;
  return Math.ceil(Buffer.byteLength(source.data, "base64") * PER_BYTE[type]);
}
