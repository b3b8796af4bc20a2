import type { ChatMessage, ChatRequest } from "../../contracts/chat-model.js";
import type { HookRun } from "../../contracts/run.js";
import type { PartDigests } from "../shared/part-digests.js";
import { withFileText, withMedia } from "../shared/part-digests.js";

/** Removes the secrets of a run. */
type RunSecrets = Pick<HookRun, "redact" | "redactValue">;

/**
 * Returns a message in the form of a recording: redacted, and with hashes in place of images and
 * files.
 */
export function storedMessage(
  message: ChatMessage,
  run: RunSecrets,
  digests: PartDigests,
): ChatMessage {
  const safe = withMedia(message, (part) => withFileText(part, (text) => run.redact(text)));
  return run.redactValue(digests.withoutContent(safe)) as ChatMessage; // of the same shape
}

/** Does the same for all messages of a request, and for its options. */
export function storedRequest(
  { messages, ...options }: ChatRequest,
  run: RunSecrets,
  digests: PartDigests,
): ChatRequest {
  return {
    ...(run.redactValue(options) as typeof options), // of the same shape
    messages: messages.map((message) => storedMessage(message, run, digests)),
  };
}
