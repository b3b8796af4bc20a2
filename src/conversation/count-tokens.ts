import type { ChatMessage } from "../contracts/chat-model.js";
import type { TokenCounter } from "../contracts/token-counter.js";
import { messageSize } from "../plugins/shared/message-size.js";

/** Estimates the tokens of messages: texts by the counter, files by a fixed rule. */
export async function countMessageTokens(
  messages: readonly ChatMessage[],
  counter: TokenCounter,
): Promise<number> {
  const sizes = messages.map(messageSize);
  const fileTokens = sizes.reduce((sum, size) => sum + size.fileTokens, 0);
  return fileTokens + (await counter.count(sizes.map(({ text }) => `${text}\n`).join("")));
}
