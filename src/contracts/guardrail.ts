import type { TaskOutput } from "./output.js";
import type { RunInfo } from "./run-info.js";
import type { Awaitable } from "./types.js";
import type { Task } from "./task.js";

/** A guardrail's verdict. */
export interface GuardrailResult {
  readonly ok: boolean;
  readonly reason?: string;
}

/**
 * Creates verdicts. Any return value other than `true` and a verdict with `ok: true` counts as a
 * violation.
 */
export const GuardrailResult: {
  success(): GuardrailResult;
  failure(reason: string): GuardrailResult;
} = Object.freeze({
  success: (): GuardrailResult => ({ ok: true }),
  failure: (reason: string): GuardrailResult => ({ ok: false, reason }),
});

/**
 * Judges a task before any model call. May return a boolean: `true` accepts, `false` refuses
 * without a reason.
 */
export type InputGuardrail = (input: {
  readonly taskDescription: string;
  readonly expectedOutput: string;
  readonly contextOutputs: readonly TaskOutput[];
  readonly agentRole: string;
  /** The run, for its inputs and values: `run.get(User)`. */
  readonly run: RunInfo;
  /** Aborted at the end of the run, or after the guardrail's limit of 30 seconds. */
  readonly signal: AbortSignal;
  getOutput<U>(task: Task<U>): TaskOutput<U>;
}) => Awaitable<GuardrailResult | boolean>;

/**
 * Judges a task's output. `parsed` is the task's value. May return a boolean: `true` accepts,
 * `false` refuses without a reason.
 */
export type OutputGuardrail<T = unknown> = (output: {
  readonly raw: string;
  readonly parsed: T;
  readonly taskDescription: string;
  readonly agentRole: string;
  /** The outputs of the tasks in `context`, to compare the output with its sources. */
  readonly contextOutputs: readonly TaskOutput[];
  /** The run, for its inputs and values. */
  readonly run: RunInfo;
  /** Aborted at the end of the run, or after the guardrail's limit of 30 seconds. */
  readonly signal: AbortSignal;
  getOutput<U>(task: Task<U>): TaskOutput<U>;
}) => Awaitable<GuardrailResult | boolean>;

/** Names a guardrail in errors. Default: the name of its function. */
export function namedGuardrail<F extends InputGuardrail | OutputGuardrail<never>>(
  name: string,
  fn: F,
): F {
  const named = fn.bind(undefined) as F; // a separate function can have another name
  Object.defineProperty(named, "name", { value: name });
  return named;
}
