import type { ChatRequest, ChatResponse } from "../../../contracts/chat-model.js";

/** Roughly what a token is long in European languages. */
const CHARACTERS_PER_TOKEN = 4;

/** Tokens that a request will use as input, by the length of its texts; pictures and the descriptions of tools are not counted. */
export function estimateInput({ messages }: ChatRequest): number {
  let characters = 0;
  for (const { content } of messages) {
    if (typeof content === "string") characters += content.length;
    else for (const part of content) characters += part.type === "text" ? part.text.length : 0;
  }
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Tokens that a call has used: as reported, else by estimate. */
export function usedTokens({ usage, message }: ChatResponse, estimatedInput: number): number {
  const input = usage?.inputTokens ?? estimatedInput;
  const output = usage?.outputTokens ?? Math.ceil(message.content.length / CHARACTERS_PER_TOKEN);
  return Math.max(0, input) + Math.max(0, output);
}
