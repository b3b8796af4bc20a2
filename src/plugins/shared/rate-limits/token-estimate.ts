import type { ChatRequest, ChatResponse } from "../../../contracts/chat-model.js";

/** The approximate length of a token in European languages, in characters. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Estimates the input tokens of a request from the length of its texts. Images and tool
 * descriptions are not counted.
 */
export function estimateInput({ messages }: ChatRequest): number {
  let characters = 0;
  for (const { content } of messages) {
    if (typeof content === "string") characters += content.length;
    else for (const part of content) characters += part.type === "text" ? part.text.length : 0;
  }
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Returns the tokens of a call: the reported number, or else an estimate. */
export function usedTokens({ usage, message }: ChatResponse, estimatedInput: number): number {
  const input = usage?.inputTokens ?? estimatedInput;
  const output = usage?.outputTokens ?? Math.ceil(message.content.length / CHARACTERS_PER_TOKEN);
  return Math.max(0, input) + Math.max(0, output);
}
