import type { TurnResult } from "./conversation.js";
import type { ErrorDetails } from "./errors.js";
import { AgentEnsembleError } from "./errors.js";

interface ConflictDetails extends ErrorDetails {
  readonly result?: TurnResult | undefined;
}

/**
 * A thread has changed since it was read: another turn was stored, or the thread was deleted.
 * `result` is the answer that could not be stored; absent if there was no answer.
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
 * A conversation store failed. `cause` is its error. `result` is the answer that could not be
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

/** Another turn of the thread is in progress and did not end within the wait. */
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

/** The limit that a refused turn has reached. */
interface ReachedLimit {
  readonly scope: "owner" | "thread";
  readonly threadId: string;
  readonly limit: number;
  readonly unit: "turns" | "tokens" | "cost";
  readonly retryAfterMs: number;
}

/**
 * A turn was refused before it began, because the owner of its thread or the thread has used its
 * quota. The thread is unchanged.
 */
export class TurnQuotaError extends AgentEnsembleError {
  /**
   * The quota that was reached: the quota of the owner (option `quota`) or of the thread (option
   * `threadQuota`).
   */
  readonly scope: "owner" | "thread";
  readonly threadId: string;
  /** The value of the limit. A cost is in the currency of the conversation's prices. */
  readonly limit: number;
  readonly unit: "turns" | "tokens" | "cost";
  /** The time until the next window, in milliseconds. */
  readonly retryAfterMs: number;
  constructor(reached: ReachedLimit, details: ErrorDetails = {}) {
    const { scope, threadId, limit, unit, retryAfterMs } = reached;
    const counted = limit === 1 ? unit.replace(/s$/, "") : unit;
    const amount = unit === "cost" ? `a cost of ${limit}` : `${limit} ${counted}`;
    const seconds = Math.ceil(retryAfterMs / 1_000);
    super(
      "AE_TURN_QUOTA",
      `The quota of ${amount} for this ${scope === "owner" ? "user" : "thread"} is used up. The next message is accepted in ${seconds} s`,
      { hint: "Send the message again after retryAfterMs, or raise the quota.", ...details },
    );
    this.scope = scope;
    this.threadId = threadId;
    this.limit = limit;
    this.unit = unit;
    this.retryAfterMs = retryAfterMs;
  }
}
