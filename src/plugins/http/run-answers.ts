import { PromptTemplateError, RunCancelledError, ValidationError } from "../../contracts/errors.js";
import { HttpRefusal, notFoundRefusal } from "../shared/http/http-refusal.js";

/** The error as a client may see it: mistakes in its inputs with what is wrong, everything else as it came. */
export function runFailure(error: unknown): unknown {
  if (ValidationError.isInstance(error) && error.about === "inputs")
    return new HttpRefusal(400, error.code, error.message);
  if (PromptTemplateError.isInstance(error))
    return new HttpRefusal(400, error.code, `Missing inputs: ${error.missingVariables.join(", ")}`);
  if (RunCancelledError.isInstance(error))
    return new HttpRefusal(409, error.code, "The run was cancelled");
  return error;
}

/** Whether the client asks for a stream. */
export function wantsStream(request: Request): boolean {
  return /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(request.headers.get("accept") ?? "");
}

/** The headers of answers that belong to a run. */
export function runHeaders(runId: string): Readonly<Record<string, string>> {
  return { "x-agentensemble-run-id": encodeURIComponent(runId) };
}

export function noSuchRun(): HttpRefusal {
  return notFoundRefusal("RUN_NOT_FOUND", "There is no such run");
}
