import type { OutputPatch, TaskMetrics, TaskOutput } from "../../contracts/output.js";
import type { AnyTask } from "../../contracts/task.js";
import type { OutputSchema } from "../../contracts/types.js";
import type { TaskAttempt } from "./task-attempt.js";
import type { TaskValue } from "../../contracts/task-value.js";
import { ValidationError } from "../../contracts/errors.js";
import { REVISE, SOURCE_TASK } from "../../contracts/output.js";
import { revisedValue } from "../../contracts/task-value.js";
import { preview } from "../../contracts/validation.js";
import { checkValueNow } from "../../util/schema/standard-schema.js";

const NO_VALUE =
  "No parsed output available. Ensure the task was built with outputType(...) and that parsing succeeded.";

const JSON_FIELDS = [
  ...(["taskId", "agentRole", "taskDescription", "raw", "parsed"] as const),
  ...(["completedAt", "durationMs", "toolCallCount", "metrics"] as const),
];

/** A finished task. Creates dates and metrics at their first use. */
export class FinishedTask implements TaskOutput {
  readonly taskId: string;
  readonly raw: string;
  readonly parsed: unknown;
  readonly taskDescription: string;
  readonly agentRole: string;
  readonly toolCallCount: number;
  readonly durationMs: number;
  readonly #record: TaskAttempt;
  readonly #hasValue: boolean;
  readonly #completedAtMs: number;
  readonly #source: AnyTask;

  constructor(record: TaskAttempt, source: AnyTask, value: TaskValue, endedMs: number) {
    this.taskId = record.taskId;
    this.raw = value.raw;
    this.parsed = value.parsed;
    this.taskDescription = record.task.description;
    this.agentRole = record.agentRole;
    this.toolCallCount = record.toolCallCount;
    this.durationMs = endedMs - record.first.startedMs;
    this.#record = record;
    this.#hasValue = value.hasValue;
    this.#completedAtMs = endedMs;
    this.#source = source;
    Object.freeze(this); // listeners also receive it and must not change it
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

  /** @throws ValidationError if the text does not match the task's schema. */
  [REVISE](patch: OutputPatch): TaskOutput {
    if ("raw" in patch && typeof patch.raw !== "string")
      throw new ValidationError(`replace({ raw }) must be a string, got: ${preview(patch.raw)}`);
    const raw = typeof patch.raw === "string" ? patch.raw : this.raw;
    const schema = this.#source.outputType;
    const revised = (value: TaskValue): FinishedTask =>
      new FinishedTask(this.#record, this.#source, value, this.#completedAtMs);
    if ("parsed" in patch) return revised({ raw, parsed: patch.parsed, hasValue: true });
    if (schema === undefined) return revised({ raw, parsed: raw, hasValue: false });
    return revised({ raw, parsed: revisedValue(schema, raw), hasValue: true });
  }

  toJSON(): object {
    return Object.fromEntries(JSON_FIELDS.map((name) => [name, this[name]]));
  }
}

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}
