import type { ChatMessage } from "../../contracts/chat-model.js";
import type { MediaPart } from "../../contracts/content.js";
import { summaryOfPart } from "../../contracts/part-summary.js";
import { withMedia } from "./part-digests.js";

/**
 * Returns messages in the form for observers. It omits the content of images and files, and the
 * encrypted reasoning of vendors.
 */
export function shownMessages(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.map((message) => {
    if (message.role !== "assistant")
      // the result is only shown
      return withMedia(message, (part) => summaryOfPart(part) as MediaPart);
    if (message.reasoning === undefined) return message;
    return { ...message, reasoning: message.reasoning.map(({ data: _, ...block }) => block) };
  });
}
