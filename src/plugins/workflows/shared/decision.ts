import type { TaskOutput } from "../../../contracts/output.js";
import { AgentEnsembleError, AgentExecutionError } from "../../../contracts/errors.js";
import { messageOf } from "../../../util/errors.js";

/**
 * What a predicate of the user's says about `value`. `output` is the one that it judges.
 * @throws AgentExecutionError when it throws or is asynchronous; errors of the framework that it throws, an ExitEarlySignal for instance, as they are.
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
  answer.catch(() => undefined); // reported as the misuse it is
  throw new AgentExecutionError(
    `${what} must return true or false, got: a promise`,
    { agentRole, taskDescription },
    { hint: "Let a task find out what takes time, and look at its output." },
  );
}
