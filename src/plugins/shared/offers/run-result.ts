import type { EnsembleOutput, TaskOutput } from "../../../contracts/output.js";
import type { Task } from "../../../contracts/task.js";
import {
  AgentEnsembleError,
  RunCancelledError,
  TaskExecutionError,
  ToolExecutionError,
} from "../../../contracts/errors.js";
import { errorRedactor } from "../../../contracts/redaction.js";
import { messageOf } from "../../../util/errors.js";

/**
 * Returns the output of the called task.
 * @throws RunCancelledError if a review ended the run before the task.
 */
export function finished<T>(output: EnsembleOutput, task: Task<T>): TaskOutput<T> {
  const result = output.getOutput(task);
  if (result === undefined)
    throw new RunCancelledError(
      `The run was ended before the task was finished (${output.exitReason})`,
    );
  return result;
}

const LONGEST = 2000;
const STACK_LINE = /^\s+at .*$/gm;
/**
 * Patterns in addition to the redactor of the run, because clients may be untrusted. They match a
 * value after the name of a secret, with blanks around the separator.
 */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{4,}/gi, "$1 [redacted]"],
  [
    /((?:password|passwd|secret|authorization|api[-_ ]?key|access[-_ ]?key|token|cookie)["']?\s*[:=]\s*["']?)(?!bearer|basic)[^\s"',;&}]+/gi,
    "$1[redacted]",
  ],
  [/(\/\/[^\s/:@]*:)[^\s/@]+@/g, "$1[redacted]@"],
  [/\bsk-[A-Za-z0-9_-]{8,}/g, "[redacted]"],
];

/**
 * Returns the message of a failure for a client. It omits the stack, the secrets of the run and
 * texts that resemble secrets. It omits hints, because hints address the operator of the server.
 * The text of errors outside the framework is not disclosed.
 */
export function failureText(error: unknown): string {
  if (!AgentEnsembleError.isInstance(error)) return "Internal error";
  const inner = TaskExecutionError.isInstance(error) ? (error.cause ?? error) : error;
  const thrown = ToolExecutionError.isInstance(inner) ? (inner.cause ?? inner) : inner;
  // before the text is cut, because a part of a secret is not recognised
  const known = errorRedactor(error)(messageOf(thrown));
  const text = known.slice(0, LONGEST).replace(STACK_LINE, "").trimEnd();
  return SECRETS.reduce(
    (result, [pattern, replacement]) => result.replace(pattern, replacement),
    text,
  );
}
