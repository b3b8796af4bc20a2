import { AgentEnsembleError, RunCancelledError } from "../../../contracts/errors.js";

/** The error of a wait for an answer that was ended by `signal`. */
export function endOfWait(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return AgentEnsembleError.isInstance(reason)
    ? reason
    : new RunCancelledError("The run ended during a review", { cause: reason });
}
