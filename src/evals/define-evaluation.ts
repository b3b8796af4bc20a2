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

/** The changes of an execution of an evaluation. */
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

/** An evaluation that can be executed: by `agentensemble eval`, or with `run`. */
export interface Evaluation<In = unknown, Out = unknown> {
  readonly name: string;
  readonly [EVALUATION]: true;
  /** @throws as `evaluate`. */
  run(changes?: EvaluationChanges): Promise<EvaluationResult<In, Out>>;
}

/**
 * Defines an evaluation for `agentensemble eval`: export it as the default of a file.
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
      evaluate({ ...checked, ...changes } as unknown as EvaluateOptions), // the types matter only to users
  });
}
