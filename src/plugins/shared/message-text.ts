import type { ChatMessage } from "../../contracts/chat-model.js";
import { summaryOfPart } from "../../contracts/part-summary.js";
import { partLine } from "../../util/part-line.js";

/**
 * Returns the text of a message for people and for comparisons. An image or file becomes one line.
 */
export function textWithParts(message: ChatMessage): string {
  const { content } = message;
  const parts = message.role === "tool" ? (message.parts ?? []) : [];
  const [text, all] = typeof content === "string" ? [[content], parts] : [[], content];
  const lines = all.map((part) =>
    part.type === "text" ? part.text : partLine(summaryOfPart(part)),
  );
  return [...text, ...lines].join("\n");
}
