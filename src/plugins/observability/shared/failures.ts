import type { LlmCall } from "../../../contracts/hooks.js";
import {
  AgentEnsembleError,
  AgentExecutionError,
  ExitEarlySignal,
  RunCancelledError,
  TaskExecutionError,
} from "../../../contracts/errors.js";

/** What went wrong, without the wrapping that only names the task and its agent. */
export function rootOf(error: Error): Error {
  let root = error;
  while (
    (TaskExecutionError.isInstance(root) || AgentExecutionError.isInstance(root)) &&
    root.cause instanceof Error
  )
    root = root.cause;
  return root;
}

/** The kind of an error in few different values: the code of one of ours, else the name of its class. */
export function errorTypeOf(error: Error): string {
  const root = rootOf(error);
  return AgentEnsembleError.isInstance(root) ? root.code : root.name;
}

/** Whether an error is a failure, and not a requested stop. */
export function isFault(error: Error): boolean {
  const reason = TaskExecutionError.isInstance(error) ? (error.cause ?? error) : error; // a handler whose own inner run was cancelled has failed
  return !ExitEarlySignal.isInstance(reason) && !RunCancelledError.isInstance(reason);
}

/** What a model call has in common with the call that its hook saw before. */
export function modelCallKey({ taskId, purpose, iteration, attempt }: LlmCall): string {
  return `${purpose}/${iteration}/${attempt}/${taskId}`;
}
