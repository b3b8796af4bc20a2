import type { ChatMessage, ChatRequest } from "../../contracts/chat-model.js";
import type { HookRun } from "../../contracts/run.js";
import type { PartDigests } from "../shared/part-digests.js";
import { withFileText, withMedia } from "../shared/part-digests.js";

/** Removes the secrets of a run. */
type RunSecrets = Pick<HookRun, "redact" | "redactValue">;

/**
 * Returns a message in the form of a recording. Secrets are removed, and images and files are
 * replaced by hashes.
 */
export function storedMessage(
  message: ChatMessage,
  run: RunSecrets,
  digests: PartDigests,
): ChatMessage {
  const safe = withMedia(message, (part) => withFileText(part, (text) => run.redact(text)));
  return run.redactValue(digests.withoutContent(safe)) as ChatMessage; // the shape does not change
}

/** Returns all messages of a request in this form, and its options without secrets. */
export function storedRequest(
  { messages, ...options }: ChatRequest,
  run: RunSecrets,
  digests: PartDigests,
): ChatRequest {
  return {
    ...(run.redactValue(options) as typeof options), // the shape does not change
    messages: messages.map((message) => storedMessage(message, run, digests)),
  };
}
