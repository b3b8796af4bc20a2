import type { AnyTask } from "../../../contracts/task.js";
import type { OutputSchema } from "../../../contracts/types.js";
import type { Checked } from "../../../util/schema/standard-schema.js";
import type { Schemas } from "../../shared/schemas.js";
import { ValidationError } from "../../../contracts/errors.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { checkValue } from "../../../util/schema/standard-schema.js";
import { outputParsingError } from "../shared/output-parser.js";
import { messageOf } from "../../../util/errors.js";

/** The text of a task and, unless the text is the value, its value. */
export interface HandlerResult {
  readonly raw: string;
  readonly parsed?: unknown;
}

type Fail = (message: string, cause?: unknown) => Error;

/**
 * Converts the return value of a handler to a result. Text is unchanged, a ToolResult is unwrapped,
 * and other values become JSON. With an `outputType`, the value is checked.
 * @throws the error of `fail` for a failed ToolResult, for an empty result, and for a value that
 * JSON can't represent; OutputParsingError for a value that does not match the schema.
 */
export async function handlerResult(
  returned: unknown,
  task: AnyTask,
  schemas: Schemas,
  fail: Fail,
): Promise<HandlerResult> {
  const result = unwrap(returned, task, fail);
  if (task.outputType === undefined) return result;
  const { raw } = result;
  const checked = await checkAgainst(task.outputType, result.parsed ?? raw);
  if (checked.ok) return { raw, parsed: checked.value };
  const { title } = schemas.of(
    task.outputType,
    (problem, cause) =>
      new ValidationError(
        `The outputType of task '${task.description}' could not be converted to JSON Schema: ${problem}`,
        { cause },
      ),
  );
  throw outputParsingError(task.description, title, raw, [checked.problem]);
}

function unwrap(returned: unknown, task: AnyTask, fail: Fail): HandlerResult {
  if (ToolResult.isInstance(returned)) {
    if (!returned.ok)
      throw fail(`Deterministic task failed: ${returned.errorMessage ?? "handler failure"}`);
    return {
      raw: returned.output,
      ...(returned.structured !== undefined && { parsed: returned.structured }),
    };
  }
  if (returned === undefined || returned === null)
    throw fail(`Deterministic task handler returned null for task: ${task.description}`);
  return {
    raw: typeof returned === "string" ? returned : toJson(returned, task, fail),
    parsed: returned,
  };
}

function toJson(value: unknown, task: AnyTask, fail: Fail): string {
  const refuse = (problem: string, cause?: unknown): Error =>
    fail(
      `Deterministic task handler returned a value that JSON cannot hold (${problem}) for task: ${task.description}. Return text or plain data.`,
      cause,
    );
  if (typeof value === "number" && !Number.isFinite(value)) throw refuse(String(value));
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw refuse(messageOf(error), error);
  }
  if (text === undefined) throw refuse(typeof value);
  return text;
}

/** Checks a value. A text may be the value or the JSON of the value. */
async function checkAgainst(type: OutputSchema<unknown>, value: unknown): Promise<Checked> {
  const direct = await checkValue(type, value);
  if (direct.ok || typeof value !== "string") return direct;
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return direct; // not JSON: the text is the value, and does not match
  }
  return checkValue(type, parsed);
}
