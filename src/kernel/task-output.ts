import type { TaskMetrics, TaskOutput } from "../contracts/output.js";
import type { AnyTask } from "../contracts/task.js";
import type { OutputSchema } from "../contracts/types.js";
import type { TaskRecordState } from "./task-record.js";
import { ValidationError } from "../contracts/errors.js";
import { SOURCE_TASK } from "../contracts/output.js";
import { preview } from "../contracts/validation.js";
import { checkValueNow } from "./schema.js";

const NO_VALUE =
  "No parsed output available. Ensure the task was built with outputType(...) and that parsing succeeded.";

/** A finished task. Dates and metrics are made when they are read. */
export class FinishedTask implements TaskOutput {
  readonly taskId: string;
  readonly raw: string;
  readonly parsed: unknown;
  readonly taskDescription: string;
  readonly agentRole: string;
  readonly toolCallCount: number;
  readonly durationMs: number;
  readonly #record: TaskRecordState;
  readonly #hasValue: boolean;
  readonly #completedAtMs: number;
  readonly #source: AnyTask;

  constructor(
    record: TaskRecordState,
    source: AnyTask,
    value: { readonly raw: string; readonly parsed: unknown; readonly hasValue: boolean },
    toolCallCount: number,
    nowMs: number,
  ) {
    this.taskId = record.taskId;
    this.raw = value.raw;
    this.parsed = value.parsed;
    this.taskDescription = record.task.description;
    this.agentRole = record.agentRole;
    this.toolCallCount = toolCallCount;
    this.durationMs = nowMs - record.firstStartedMs;
    this.#record = record;
    this.#hasValue = value.hasValue;
    this.#completedAtMs = nowMs;
    this.#source = source;
  }

  get [SOURCE_TASK](): AnyTask {
    return this.#source;
  }

  get completedAt(): Date {
    return this.#record.wallClock(this.#completedAtMs);
  }

  get metrics(): TaskMetrics {
    return this.#record.totalMetrics;
  }

  getParsedOutput(): never;
  getParsedOutput<U>(schema: OutputSchema<U>): U;
  getParsedOutput(schema?: OutputSchema<unknown>): unknown {
    if (!this.#hasValue) throw new ValidationError(NO_VALUE);
    if (schema === undefined) return this.parsed;
    const checked = checkValueNow(schema, this.parsed);
    if (checked === undefined)
      throw new ValidationError(
        "getParsedOutput(schema) needs a schema that validates synchronously",
      );
    if (checked.ok) return checked.value;
    throw new ValidationError(
      `Parsed output is of type ${kindOf(this.parsed)} but requested type schema does not match.`,
      { hint: checked.problem },
    );
  }

  /** The same output with another text and value. */
  revised(value: {
    readonly raw: string;
    readonly parsed: unknown;
    readonly hasValue: boolean;
  }): FinishedTask {
    return new FinishedTask(
      this.#record,
      this.#source,
      value,
      this.toolCallCount,
      this.#completedAtMs,
    );
  }

  get hasValue(): boolean {
    return this.#hasValue;
  }

  toJSON(): object {
    const {
      taskId,
      agentRole,
      taskDescription,
      raw,
      parsed,
      completedAt,
      durationMs,
      toolCallCount,
      metrics,
    } = this;
    return {
      taskId,
      agentRole,
      taskDescription,
      raw,
      parsed,
      completedAt,
      durationMs,
      toolCallCount,
      metrics,
    };
  }
}

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

/**
 * Applies a tap's patch. A new `raw` without `parsed` is the new value of a task without a schema, and is parsed by the schema of one with it.
 * @throws ValidationError where the text does not fit the schema.
 */
export function reviseOutput(
  output: TaskOutput,
  patch: { readonly raw?: unknown; readonly parsed?: unknown },
): TaskOutput {
  const current = output as FinishedTask; // the kernel makes all outputs
  if ("raw" in patch && typeof patch.raw !== "string")
    throw new ValidationError(`replace({ raw }) must be a string, got: ${preview(patch.raw)}`);
  const raw = typeof patch.raw === "string" ? patch.raw : current.raw;
  if ("parsed" in patch) return current.revised({ raw, parsed: patch.parsed, hasValue: true });
  const schema = current[SOURCE_TASK].outputType;
  if (schema === undefined) return current.revised({ raw, parsed: raw, hasValue: false });
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
  if (!checked.ok)
    throw new ValidationError(
      `replace({ raw }) does not fit the task's outputType: ${checked.problem}`,
    );
  return current.revised({ raw, parsed: checked.value, hasValue: true });
}
