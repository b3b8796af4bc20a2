import type { ExecutorResult, TaskExecutor } from "../contracts/executors.js";
import type { TaskAnswer } from "../contracts/hooks.js";
import type { PlannedTask } from "../contracts/plan.js";
import type { OutputSchema } from "../contracts/types.js";
import type { AgentEnsembleError } from "../contracts/errors.js";
import { OutputParsingError, ValidationError, messageOf } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";
import { parseText } from "./schema.js";

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
  if (
    typeof result !== "object" ||
    result === null ||
    typeof result.raw !== "string" ||
    typeof result.toolCallCount !== "number"
  ) {
    throw new ValidationError(
      `Task executor '${executor.name}' must return { raw, toolCallCount }, got: ${preview(result)}`,
    );
  }
}

/** The value of a task: what the executor parsed, else the text read by the schema, else the text. A promise only where a schema reads. */
export function valueOf(
  { spec }: PlannedTask,
  { raw, parsed }: TaskAnswer,
): TaskValue | Promise<TaskValue> {
  if (parsed !== undefined) return { raw, parsed, hasValue: true };
  return spec.outputType === undefined
    ? { raw, parsed: raw, hasValue: false }
    : readBySchema(spec.outputType, raw, spec.description);
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
