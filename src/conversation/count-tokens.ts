import type { ChatMessage, ContentPart } from "../contracts/chat-model.js";
import type { TokenCounter } from "../contracts/token-counter.js";

/** Tokens of an image. */
const IMAGE = 1_600;

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

function fileTokens(_part: Exclude<ContentPart, { readonly type: "text" }>): number {
  return IMAGE;
}
