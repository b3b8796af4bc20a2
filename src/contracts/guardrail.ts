import type { TaskOutput } from "./output.js";
import type { Awaitable } from "./types.js";
import type { Task } from "./task.js";

/** A guardrail's verdict. */
export interface GuardrailResult {
  readonly ok: boolean;
  readonly reason?: string;
}

/** Makes verdicts. Anything a guardrail returns that is neither a verdict nor `true` counts as a violation. */
export const GuardrailResult: {
  success(): GuardrailResult;
  failure(reason: string): GuardrailResult;
} = Object.freeze({
  success: (): GuardrailResult => ({ ok: true }),
  failure: (reason: string): GuardrailResult => ({ ok: false, reason }),
});

/** Judges a task before any model is called. */
export type InputGuardrail = (input: {
  readonly taskDescription: string;
  readonly expectedOutput: string;
  readonly contextOutputs: readonly TaskOutput[];
  readonly agentRole: string;
  /** Aborted when the run ends or the guardrail's 30 seconds are over. */
  readonly signal: AbortSignal;
  getOutput<U>(task: Task<U>): TaskOutput<U>;
}) => Awaitable<GuardrailResult | true>;

/** Judges a task's output; `parsed` is the task's value. */
export type OutputGuardrail<T = unknown> = (output: {
  readonly raw: string;
  readonly parsed: T;
  readonly taskDescription: string;
  readonly agentRole: string;
  /** What the task was given: to check the output against its sources. */
  readonly contextOutputs: readonly TaskOutput[];
  /** Aborted when the run ends or the guardrail's 30 seconds are over. */
  readonly signal: AbortSignal;
  getOutput<U>(task: Task<U>): TaskOutput<U>;
}) => Awaitable<GuardrailResult | true>;

/** Gives a guardrail a name that shows in errors; without one its function name is used. */
export function namedGuardrail<F extends InputGuardrail | OutputGuardrail<never>>(
  name: string,
  fn: F,
): F {
  const named = fn.bind(undefined) as F; // a function of its own, so that the name can differ
  Object.defineProperty(named, "name", { value: name });
  return named;
}
