import type { ConversationTarget, ConversationInput } from "./conversation-target.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { RunOptions } from "../contracts/run.js";
import type { AnyTask, Task } from "../contracts/task.js";
import type { Inputs } from "../contracts/types.js";

/**
 * An ensemble, a map-reduce, or another object with a compatible `run`. The output is the final
 * text. The output of a map-reduce is the parsed value.
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

/** The second argument of a function that is evaluated. */
export interface TargetContext {
  readonly caseId: string;
  /** The number of the trial, from 1. */
  readonly trial: number;
  /** Identifies this trial. If the evaluation is repeated, the key is the same. */
  readonly idempotencyKey: string;
  /** Aborted at the time limit of the trial, and when the evaluation is cancelled. */
  readonly signal: AbortSignal;
  /**
   * Runs an ensemble as a part of the trial. The trial then includes its usage, tool calls and
   * conversation.
   *
   * @throws like the `run` of the ensemble.
   */
  run<E extends EnsembleTarget>(
    ensemble: E,
    inputs?: TargetInput<E>,
  ): Promise<Awaited<ReturnType<E["run"]>>>;
}

/** A function of the input of a case. Its return value is the output. */
export type FunctionTarget = (input: never, context: TargetContext) => unknown;

/** A value that can be evaluated. */
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

/** The type of the outputs of a target. Expected values have this type, and scorers receive it. */
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
