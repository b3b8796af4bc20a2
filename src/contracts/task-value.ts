import type { ExecutorResult, TaskExecutor } from "./executors.js";
import type { TaskAnswer } from "./hooks.js";
import type { PlannedTask } from "./plan.js";
import type { OutputSchema } from "./types.js";
import type { AgentEnsembleError } from "./errors.js";
import { OutputParsingError, ValidationError } from "./errors.js";
import { preview } from "./validation.js";
import { checkValueNow, parseText } from "../util/schema/standard-schema.js";
import { messageOf } from "../util/errors.js";

/** The text of a task and its value. */
export interface TaskValue {
  readonly raw: string;
  readonly parsed: unknown;
  readonly hasValue: boolean;
}

/**
 * Returns the reason and the advice of an error. For a TaskExecutionError, uses its cause, because
 * its message only names the task.
 */
export function explained(cause: unknown): string {
  let advice: string | undefined;
  const seen = new Set<unknown>();
  for (
    let e: unknown = cause;
    e instanceof Error && advice === undefined && !seen.has(e);
    e = e.cause
  ) {
    seen.add(e);
    advice = (e as { readonly hint?: string }).hint;
  }
  const problem = messageOf(cause);
  return advice === undefined
    ? problem
    : `${problem}${/[.!?]$/.test(problem) ? "" : "."} ${advice}`;
}

/**
 * Returns the feedback for a repeated attempt: the reason of a guardrail, else the message of the
 * error.
 */
export function feedbackOf(error: AgentEnsembleError): string {
  const { violationMessage, reason } = error as {
    readonly violationMessage?: string;
    readonly reason?: string;
  };
  return violationMessage ?? reason ?? error.message;
}

export function checkResult(executor: TaskExecutor, result: ExecutorResult): void {
  if (typeof result !== "object" || result === null || typeof result.raw !== "string") {
    throw new ValidationError(
      `Task executor '${executor.name}' must return { raw }, got: ${preview(result)}`,
    );
  }
}

/**
 * Returns the value of a task: the executor's value, else the text parsed by the schema, else the
 * text. Returns a promise only for an asynchronous schema.
 */
export function valueOf(
  { task }: PlannedTask,
  { raw, parsed }: TaskAnswer,
): TaskValue | Promise<TaskValue> {
  if (parsed !== undefined) return { raw, parsed, hasValue: true };
  return task.outputType === undefined
    ? { raw, parsed: raw, hasValue: false }
    : readBySchema(task.outputType, raw, task.description);
}

async function readBySchema(
  type: OutputSchema<unknown>,
  raw: string,
  description: string,
): Promise<TaskValue> {
  const checked = await parseText(type, raw);
  if (checked.ok) return { raw, parsed: checked.value, hasValue: true };
  throw new OutputParsingError(
    `The output of task '${description.slice(0, 80)}' does not fit its outputType: ${checked.problem}`,
    {
      rawOutput: raw,
      parseErrors: [checked.problem],
    },
  );
}

/**
 * Returns the value of a text that a tap or a review put in place of an output.
 * @throws ValidationError if the text does not match the schema.
 */
export function revisedValue(schema: OutputSchema<unknown>, raw: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    throw new ValidationError(
      `replace({ raw }) of a task with an outputType must be JSON, got: ${preview(raw)}`,
    );
  }
  const checked = checkValueNow(schema, value);
  if (checked === undefined)
    throw new ValidationError(
      "replace({ raw }) also needs `parsed` if the schema of the task validates asynchronously",
    );
  if (checked.ok) return checked.value;
  throw new ValidationError(
    `replace({ raw }) does not fit the task's outputType: ${checked.problem}`,
  );
}
