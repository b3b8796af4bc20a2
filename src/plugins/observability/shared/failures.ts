import {
  AgentEnsembleError,
  AgentExecutionError,
  ExitEarlySignal,
  RunCancelledError,
  TaskExecutionError,
} from "../../../contracts/errors.js";

/** Returns the original failure, without wrappers that only add the task and its agent. */
export function rootOf(error: Error): Error {
  let root = error;
  while (
    (TaskExecutionError.isInstance(root) || AgentExecutionError.isInstance(root)) &&
    root.cause instanceof Error
  )
    root = root.cause;
  return root;
}

/**
 * Returns the kind of an error, with few different values. It is the code of an error of the
 * framework, or else the name of its class.
 */
export function errorTypeOf(error: Error): string {
  const root = rootOf(error);
  return AgentEnsembleError.isInstance(root) ? root.code : root.name;
}

/** Whether an error is a failure. False for a requested stop. */
export function isFault(error: Error): boolean {
  // the cancelled inner run of a handler is a failure
  const reason = TaskExecutionError.isInstance(error) ? (error.cause ?? error) : error;
  return !ExitEarlySignal.isInstance(reason) && !RunCancelledError.isInstance(reason);
}
