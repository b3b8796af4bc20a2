import type { TaskOutput } from "../../../contracts/output.js";
import { AgentEnsembleError, AgentExecutionError } from "../../../contracts/errors.js";
import { messageOf } from "../../../util/errors.js";

/**
 * Returns the result of a user's predicate for `value`. `output` is the output under decision.
 * @throws AgentExecutionError if the predicate throws or is asynchronous. Errors of the framework,
 * such as an ExitEarlySignal, are thrown unchanged.
 */
export function decide<T>(
  what: string,
  predicate: (value: T) => unknown,
  value: T,
  output: TaskOutput,
): boolean {
  const { agentRole, taskDescription } = output;
  let answer: unknown;
  try {
    answer = predicate(value);
  } catch (error) {
    if (AgentEnsembleError.isInstance(error)) throw error;
    throw new AgentExecutionError(
      `${what} threw: ${messageOf(error)}`,
      { agentRole, taskDescription },
      { cause: error },
    );
  }
  if (!(answer instanceof Promise)) return Boolean(answer);
  answer.catch(() => undefined); // the error reports the asynchronous predicate itself
  throw new AgentExecutionError(
    `${what} must return true or false, got: a promise`,
    { agentRole, taskDescription },
    { hint: "Let a task find out what takes time, and look at its output." },
  );
}
