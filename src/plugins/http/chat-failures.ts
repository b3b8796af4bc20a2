import {
  ConversationConflictError,
  ThreadBusyError,
  TurnQuotaError,
} from "../../contracts/conversation-errors.js";
import { ValidationError } from "../../contracts/errors.js";
import { AccessDeniedError } from "../../contracts/state-errors.js";
import { HttpRefusal, notFoundRefusal } from "../shared/http/http-refusal.js";
import { runFailure } from "./run-answers.js";

/** The error of a turn that failed before its first event. */
export class TurnFailure extends Error {
  constructor(override readonly cause: unknown) {
    super("The turn failed");
  }
}

/**
 * Returns the error in the form for a page. Problems of the request are unchanged. The thread of
 * another owner is reported as missing. Other errors are unchanged.
 */
export function chatFailure(error: unknown): unknown {
  if (error instanceof TurnFailure) return turnFailure(error.cause);
  if (ValidationError.isInstance(error) && error.about === undefined)
    return new HttpRefusal(400, error.code, error.message);
  return turnFailure(error);
}

function turnFailure(error: unknown): unknown {
  if (AccessDeniedError.isInstance(error)) return noSuchThread();
  if (TurnQuotaError.isInstance(error)) return quotaRefusal(error);
  if (ThreadBusyError.isInstance(error) || ConversationConflictError.isInstance(error))
    return new HttpRefusal(409, error.code, "The thread has another turn in progress");
  if (ValidationError.isInstance(error) && error.about === "messageId")
    return new HttpRefusal(409, error.code, error.message);
  return runFailure(error);
}

function quotaRefusal({ message, retryAfterMs }: TurnQuotaError): HttpRefusal {
  const headers = { "Retry-After": String(Math.ceil(retryAfterMs / 1_000)) };
  return new HttpRefusal(429, "QUOTA", message, { headers });
}

export function noSuchThread(): HttpRefusal {
  return notFoundRefusal("THREAD_NOT_FOUND", "There is no such thread");
}

/** The refusal of a usage request if neither the owner nor the thread has a quota. */
export function noQuota(): HttpRefusal {
  return notFoundRefusal("NO_QUOTA", "There is no quota");
}

/** The refusal of a message while the thread waits for an answer of the page. */
export function threadWaits(): HttpRefusal {
  return new HttpRefusal(
    409,
    "AE_THREAD_BUSY",
    "The turn in progress waits for an approval, or for the output of a tool that the page executes",
  );
}

/** The refusal of outputs of calls if no call of the turn was for the page. */
export function noCallWaits(): HttpRefusal {
  return new HttpRefusal(
    409,
    "CALL_NOT_WAITING",
    "No tool call of this message waits for an output",
  );
}
