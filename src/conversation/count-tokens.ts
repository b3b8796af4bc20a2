import type { ChatMessage } from "../contracts/chat-model.js";
import type { MediaPart } from "../contracts/content.js";
import type { TokenCounter } from "../contracts/token-counter.js";

/** Tokens of an image. */
const IMAGE = 1_600;
/** Tokens of a file: 2,500 for 100 kB, and of audio: 25 for 32 kB, about a second. */
const PER_BYTE = { file: 2_500 / 100_000, audio: 25 / 32_000 } as const;

/** Estimates the tokens of messages: texts by the counter, images by a fixed number. */
export async function countMessageTokens(
  messages: readonly ChatMessage[],
  counter: TokenCounter,
): Promise<number> {
  let tokens = 0;
  let text = "";
  for (const message of messages) {
    const { content } = message;
    if (typeof content === "string") text += `${content}\n`;
    else
      for (const part of content) {
        if (part.type === "text") text += `${part.text}\n`;
        else tokens += fileTokens(part);
      }
    if (message.role === "assistant")
      for (const call of message.toolCalls ?? []) text += `${call.name} ${call.arguments}\n`;
  }
  return tokens + (await counter.count(text));
}

function fileTokens(part: MediaPart): number {
  if (part.type === "image" || part.data instanceof URL) return IMAGE;
  return Math.ceil(Buffer.byteLength(part.data, "base64") * PER_BYTE[part.type]);
}
