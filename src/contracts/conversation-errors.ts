import type { TurnResult } from "./conversation.js";
import type { ErrorDetails } from "./errors.js";
import { AgentEnsembleError } from "./errors.js";

interface ConflictDetails extends ErrorDetails {
  readonly result?: TurnResult | undefined;
}

/**
 * A thread has changed since it was read: another turn was stored, or the thread was deleted.
 * `result` is the answer that could not be stored.
 */
export class ConversationConflictError extends AgentEnsembleError {
  readonly threadId: string;
  readonly expectedVersion: number;
  readonly result: TurnResult | undefined;
  constructor(threadId: string, expectedVersion: number, details: ConflictDetails = {}) {
    super(
      "AE_CONVERSATION_CONFLICT",
      `Thread '${threadId}' has changed: it no longer has version ${expectedVersion}`,
      { hint: "Read the thread, and send the message again.", ...details },
    );
    this.threadId = threadId;
    this.expectedVersion = expectedVersion;
    this.result = details.result;
  }
}

/**
 * A conversation store failed. `cause` is its error; `result` is the answer that could not be
 * stored.
 */
export class ConversationStoreError extends AgentEnsembleError {
  readonly threadId: string;
  readonly operation: string;
  readonly result: TurnResult | undefined;
  constructor(
    message: string,
    context: { readonly threadId: string; readonly operation: string },
    details: ConflictDetails = {},
  ) {
    super("AE_CONVERSATION_STORE", message, details);
    this.threadId = context.threadId;
    this.operation = context.operation;
    this.result = details.result;
  }
}

/** Another turn of the thread is in progress, and did not end in time. */
export class ThreadBusyError extends AgentEnsembleError {
  readonly threadId: string;
  constructor(threadId: string, timeoutMs: number, details: ErrorDetails = {}) {
    const waited = timeoutMs === 0 ? "" : `, and did not end within ${timeoutMs} ms`;
    super("AE_THREAD_BUSY", `A turn of thread '${threadId}' is in progress${waited}`, {
      hint: "Send the message again when the turn is over, or raise busyTimeoutMs.",
      ...details,
    });
    this.threadId = threadId;
  }
}
