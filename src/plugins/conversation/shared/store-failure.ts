import { ConversationStoreError } from "../../../contracts/conversation-errors.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";

/** Errors that callers of a store get unchanged. */
const KEPT: readonly string[] = [
  "AE_VALIDATION",
  "AE_CONVERSATION_CONFLICT",
  "AE_CONVERSATION_STORE",
  "AE_THREAD_BUSY",
  "AE_FILE_FORMAT",
];

/** Returns the store error for a failure of the underlying storage. */
export function storeFailureOf(
  error: unknown,
  place: string,
  context: { readonly threadId: string; readonly operation: string },
): unknown {
  const isOurs = AgentEnsembleError.isInstance(error);
  if (isOurs && KEPT.includes(error.code)) return error;
  return new ConversationStoreError(
    `${place} failed to ${context.operation}: ${preview(messageOf(error), 2_000)}`,
    context,
    { cause: error, ...(isOurs && { hint: error.hint }) },
  );
}
