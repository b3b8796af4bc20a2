import { PromptTemplateError, RunCancelledError, ValidationError } from "../../contracts/errors.js";
import { HttpRefusal, notFoundRefusal } from "../shared/http/http-refusal.js";

/**
 * Returns the error in the form for a client. Problems of the inputs have details. Other errors are
 * unchanged.
 */
export function runFailure(error: unknown): unknown {
  if (ValidationError.isInstance(error) && error.about === "inputs")
    return new HttpRefusal(400, error.code, error.message);
  if (PromptTemplateError.isInstance(error))
    return new HttpRefusal(400, error.code, `Missing inputs: ${error.missingVariables.join(", ")}`);
  if (RunCancelledError.isInstance(error))
    return new HttpRefusal(409, error.code, "The run was cancelled");
  return error;
}

/** Returns whether the client requests a stream. */
export function wantsStream(request: Request): boolean {
  return /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(request.headers.get("accept") ?? "");
}

/** Returns the headers of answers about a run. */
export function runHeaders(runId: string): Readonly<Record<string, string>> {
  return { "x-agentensemble-run-id": encodeURIComponent(runId) };
}

export function noSuchRun(): HttpRefusal {
  return notFoundRefusal("RUN_NOT_FOUND", "There is no such run");
}
