import type { ConversationTarget, ConversationInput } from "./conversation-target.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { RunOptions } from "../contracts/run.js";
import type { AnyTask, Task } from "../contracts/task.js";
import type { Inputs } from "../contracts/types.js";

/**
 * An ensemble, a map-reduce, or another object with their `run`. Its output is the final text; for
 * a map-reduce the parsed value.
 */
export interface EnsembleTarget {
  run(inputs: never, options?: RunOptions): Promise<EnsembleOutput>;
}

/** An ensemble whose output is the value of one of its tasks. */
export interface TaskOfEnsembleTarget {
  readonly ensemble: EnsembleTarget;
  /** The task object of the ensemble. */
  readonly task: object;
}

/** The second argument of an evaluated function. */
export interface TargetContext {
  readonly caseId: string;
  /** From 1. */
  readonly trial: number;
  /** Identifies this trial. Equal when the evaluation is repeated. */
  readonly idempotencyKey: string;
  /** Aborted at the time limit of the trial, and when the evaluation is cancelled. */
  readonly signal: AbortSignal;
  /**
   * Runs an ensemble as a part of the trial: its usage, tool calls and conversation belong to it.
   * @throws like the `run` of the ensemble.
   */
  run<E extends EnsembleTarget>(
    ensemble: E,
    inputs?: TargetInput<E>,
  ): Promise<Awaited<ReturnType<E["run"]>>>;
}

/** A function of the input. Its return value is the output. */
export type FunctionTarget = (input: never, context: TargetContext) => unknown;

/** What can be evaluated. */
export type EvaluationTarget =
  AnyTask | EnsembleTarget | TaskOfEnsembleTarget | ConversationTarget | FunctionTarget;

/** The type of the inputs of a target. */
export type TargetInput<T> = T extends AnyTask
  ? Inputs
  : T extends { readonly ensemble: infer E }
    ? TargetInput<E>
    : T extends ConversationTarget
      ? ConversationInput
      : T extends { run(...args: infer A): unknown }
        ? A extends readonly [(infer I)?, ...unknown[]]
          ? NonNullable<I>
          : Inputs
        : T extends (input: infer I, ...rest: never) => unknown
          ? I
          : unknown;

/** The type of the outputs of a target: of the expected values, and of the values for scorers. */
export type TargetOutput<T> =
  T extends Task<infer V>
    ? V
    : T extends { readonly ensemble: unknown; readonly task: Task<infer V> }
      ? V
      : T extends ConversationTarget
        ? string
        : T extends { run(...args: never): Promise<infer O> }
          ? O extends { readonly parsed: infer P }
            ? P
            : string
          : T extends (...args: never) => infer R
            ? Awaited<R>
            : unknown;
