import type { ExecutorResult, TaskExecutor } from "./executors.js";
import type { TaskAnswer } from "./hooks.js";
import type { PlannedTask } from "./plan.js";
import type { OutputSchema } from "./types.js";
import type { AgentEnsembleError } from "./errors.js";
import { OutputParsingError, ValidationError } from "./errors.js";
import { preview } from "./validation.js";
import { checkValueNow, parseText } from "../util/schema/standard-schema.js";
import { messageOf } from "../util/errors.js";

/** The text of a task and what it stands for. */
export interface TaskValue {
  readonly raw: string;
  readonly parsed: unknown;
  readonly hasValue: boolean;
}

/** What went wrong, and the nearest advice: the message of a TaskExecutionError itself only names the task. */
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

/** What a revised attempt is told: a guardrail's own words where there are some. */
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

/** The value of a task: what the executor parsed, else the text read by the schema, else the text. A promise only where a schema reads. */
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

/** The value of a text that a tap or a review has put in the place of an output. @throws ValidationError where it does not fit. */
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
      "replace({ raw }) needs `parsed` beside it where the task's schema validates asynchronously",
    );
  if (checked.ok) return checked.value;
  throw new ValidationError(
    `replace({ raw }) does not fit the task's outputType: ${checked.problem}`,
  );
}
