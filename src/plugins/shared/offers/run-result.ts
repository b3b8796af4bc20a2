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

/** The output of the task that was called. @throws RunCancelledError where a review ended the run before it. */
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
/** Beside what the run's redactor takes out: a value behind the name of something secret, with blanks around its sign. Clients may be strangers. */
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
 * What a client receives of a failure: the message without the stack, without the secrets of its run and without texts that look like secrets. What the server is to change
 * (the hints of its errors) is none of the client's business; errors that are not the framework's have no text that is meant for others.
 */
export function failureText(error: unknown): string {
  if (!AgentEnsembleError.isInstance(error)) return "Internal error";
  const inner = TaskExecutionError.isInstance(error) ? (error.cause ?? error) : error;
  const thrown = ToolExecutionError.isInstance(inner) ? (inner.cause ?? inner) : inner;
  const known = errorRedactor(error)(messageOf(thrown)); // before it is cut: half a secret has no shape any more
  const text = known.slice(0, LONGEST).replace(STACK_LINE, "").trimEnd();
  return SECRETS.reduce(
    (result, [pattern, replacement]) => result.replace(pattern, replacement),
    text,
  );
}
