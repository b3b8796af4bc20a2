import { AgentEnsembleError } from "../../contracts/errors.js";
import { toError } from "../../util/errors.js";
import { emitProcessWarning } from "../../util/process-warning.js";
import { HttpRefusal } from "../shared/http/http-refusal.js";

/** Headers of JSON answers for one principal. */
export const PRIVATE_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
});

export function jsonAnswer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(body, { status, headers: { ...PRIVATE_HEADERS, ...headers } });
}

/** How a failed request is reported. */
interface FailureReport {
  readonly onError: ((error: Error) => string) | undefined;
  /** Aborts when the client disconnects. A later failure is caused by the client. */
  readonly signal: AbortSignal;
}

/**
 * Returns the answer to a failed request. A refusal is unchanged. Every other error becomes 500
 * without its text.
 */
export function failureAnswer(error: unknown, report: FailureReport): Response {
  if (error instanceof HttpRefusal) {
    const { status, code, message, extra } = error;
    return jsonAnswer(status, { error: { code, message }, ...extra.fields }, extra.headers);
  }
  const code = AgentEnsembleError.isInstance(error) ? error.code : "INTERNAL";
  return jsonAnswer(500, { error: { code, message: shownMessage(toError(error), report) } });
}

/** Returns the message of an internal error for clients. */
function shownMessage(error: Error, { onError, signal }: FailureReport): string {
  try {
    if (onError !== undefined) return String(onError(error));
    if (!AgentEnsembleError.isInstance(error) && !signal.aborted) reportFailure(error);
  } catch (failure) {
    reportFailure(toError(failure));
  }
  return "An error occurred.";
}

/**
 * Reports a failed request. Failures of runs are events, but failures of requests have no other
 * report.
 */
export function reportFailure(error: Error): void {
  emitProcessWarning(`A request could not be answered: ${error.message}`);
}
