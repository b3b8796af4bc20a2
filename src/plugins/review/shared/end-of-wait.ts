import { AgentEnsembleError, RunCancelledError } from "../../../contracts/errors.js";

/** Returns the error of a wait for an answer that `signal` ended. */
export function endOfWait(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return AgentEnsembleError.isInstance(reason)
    ? reason
    : new RunCancelledError("The run ended during a review", { cause: reason });
}
