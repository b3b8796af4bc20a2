import { AgentEnsembleError } from "../../contracts/errors.js";
import { toError } from "../../util/errors.js";
import { emitProcessWarning } from "../../util/process-warning.js";

/** Why a request is refused. Everything in it is sent to the client. */
export class HttpRefusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly extra: {
      readonly headers?: Readonly<Record<string, string>>;
      /** Stand beside `error` in the body. */
      readonly fields?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(message);
  }
}

/** The answer to everything that this principal must not know of. */
export function notFoundRefusal(code = "NOT_FOUND", message = "Not found"): HttpRefusal {
  return new HttpRefusal(404, code, message);
}

/** Answers are for one principal, and are JSON and nothing else. */
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

/** The answer to a request that failed: a refusal as it is, for everything else 500 without its text. */
export function failureAnswer(
  error: unknown,
  onError: ((error: Error) => string) | undefined,
): Response {
  if (error instanceof HttpRefusal) {
    const { status, code, message, extra } = error;
    return jsonAnswer(status, { error: { code, message }, ...extra.fields }, extra.headers);
  }
  const code = AgentEnsembleError.isInstance(error) ? error.code : "INTERNAL";
  return jsonAnswer(500, { error: { code, message: shownMessage(toError(error), onError) } });
}

/** What a client reads of an error that is not its own. */
function shownMessage(error: Error, onError: ((error: Error) => string) | undefined): string {
  try {
    if (onError !== undefined) return String(onError(error));
    if (!AgentEnsembleError.isInstance(error)) reportFailure(error);
  } catch (failure) {
    reportFailure(toError(failure));
  }
  return "An error occurred.";
}

/** Failures of runs are events; these would be seen nowhere else. */
export function reportFailure(error: Error): void {
  emitProcessWarning(`A request could not be answered: ${error.message}`);
}
