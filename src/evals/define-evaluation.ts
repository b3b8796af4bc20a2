import type {
  AnyEvaluation,
  EvaluateFunctionOptions,
  EvaluateOptions,
  EvaluationSettings,
} from "./evaluation-options.js";
import type { EvaluationResult } from "./evaluation-result.js";
import type { EvaluationTarget, TargetInput, TargetOutput } from "./target.js";
import { EVALUATION } from "../contracts/command-line.js";
import { checkEvaluateOptions } from "./checked-options.js";
import { evaluate } from "./evaluate.js";

/** The options that one execution of an evaluation may change. */
export type EvaluationChanges = Pick<
  EvaluationSettings,
  | "trials"
  | "concurrency"
  | "budget"
  | "baseline"
  | "onDatasetChange"
  | "only"
  | "seed"
  | "traces"
  | "version"
  | "onProgress"
  | "signal"
>;

/** An evaluation to be executed by `agentensemble eval` or by `run`. */
export interface Evaluation<In = unknown, Out = unknown> {
  readonly name: string;
  readonly [EVALUATION]: true;
  /** Executes the evaluation. @throws as `evaluate`. */
  run(changes?: EvaluationChanges): Promise<EvaluationResult<In, Out>>;
}

/**
 * Defines an evaluation. To execute it with `agentensemble eval`, export it as the default of a
 * file.
 *
 * @throws ValidationError for invalid options.
 */
export function defineEvaluation<In, Out>(
  options: EvaluateFunctionOptions<In, Out>,
): Evaluation<In, Out>;
export function defineEvaluation<const T extends EvaluationTarget>(
  options: EvaluateOptions<T>,
): Evaluation<TargetInput<T>, TargetOutput<T>>;
export function defineEvaluation(options: { readonly target: unknown }): Evaluation {
  const checked = options as AnyEvaluation; // its fields are checked next
  checkEvaluateOptions(checked);
  return Object.freeze({
    name: checked.name,
    [EVALUATION]: true as const,
    run: (changes: EvaluationChanges = {}) =>
      // Only callers need the types.
      evaluate({ ...checked, ...changes } as unknown as EvaluateOptions),
  });
}
