import type { CaptureMode } from "../contracts/capture.js";
import type { ModelRef } from "../contracts/chat-model.js";
import type { CostConfiguration } from "../contracts/cost.js";
import type { EmbeddingModel } from "../contracts/embedding.js";
import type { Plugin } from "../contracts/plugin.js";
import type { EvaluationDataset, EvaluationCase } from "./evaluation-case.js";
import type { EvaluationResult } from "./evaluation-result.js";
import type { Scorer } from "./scorer.js";
import type { EvaluationTarget, TargetContext, TargetInput, TargetOutput } from "./target.js";
import type { Awaitable } from "../contracts/types.js";

/**
 * Limits of a whole evaluation. A call that would exceed a limit is not made, and no further trial
 * starts.
 */
export interface EvaluationBudget {
  /** Limit of the input and output tokens of all calls, including calls of judges. */
  readonly maxTokens?: number | undefined;
  /** Limit of the cost of all calls. Requires `costConfiguration`. */
  readonly maxCost?: number | undefined;
  /** Limit of the duration in milliseconds from the start. */
  readonly maxDurationMs?: number | undefined;
}

/** The progress of an evaluation. */
export interface EvaluationProgress {
  /** Number of finished trials. */
  readonly done: number;
  readonly total: number;
  /** Number of trials without an output, plus number of scores with an error. */
  readonly errors: number;
  readonly elapsedMs: number;
  /** Estimated remaining time in milliseconds. Absent before the first trial has finished. */
  readonly remainingMs?: number | undefined;
  /** Cost of targets and judges so far. Absent without prices. */
  readonly cost?: number | undefined;
}

/** Selects the cases that have one of the `ids` or one of the `tags`. */
export interface CaseSelection {
  readonly ids?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Limit of the number of these cases, sampled at random by the seed. Default: all. */
  readonly sample?: number | undefined;
}

/**
 * The options of `evaluate` except the target. `In` and `Out` are the types of the target's inputs
 * and outputs.
 */
export interface EvaluationSettings<In = unknown, Out = unknown> {
  /** The name of the evaluation in reports and ids. */
  readonly name: string;
  readonly dataset: EvaluationDataset<In, Out> | readonly EvaluationCase<In, Out>[];
  /** The scorers. Their names must differ. */
  readonly scorers: readonly Scorer<In, Out>[];
  /** Number of trials of each case, from 1 to 100. Default 1. */
  readonly trials?: number | undefined;
  /** Number of concurrent trials. Default 4. */
  readonly concurrency?: number | undefined;
  readonly budget?: EvaluationBudget | undefined;
  /** An earlier result of the same dataset, or the path of its JSON file. Default: none. */
  readonly baseline?: string | EvaluationResult | undefined;
  /**
   * The reaction to a baseline with another version of the dataset. `refuse` (default): the
   * evaluation is refused. `compare`: only unchanged cases are compared. A baseline that does not
   * contain all of its cases is always refused.
   */
  readonly onDatasetChange?: "refuse" | "compare" | undefined;
  readonly only?: CaseSelection | undefined;
  /** Seed of all random numbers, an integer from 0 to 4,294,967,295. Default 1. */
  readonly seed?: number | undefined;
  /** Confidence level of intervals. Default 0.95. */
  readonly confidence?: number | undefined;
  /** The minimum difference between means that the verdict treats as relevant. Default 0.05. */
  readonly minDifference?: number | undefined;
  /** The model of judges, of simulated users, and of targets that are tasks. */
  readonly model?: ModelRef | undefined;
  /** The embedding model of `semanticSimilarity`. */
  readonly embeddingModel?: EmbeddingModel | undefined;
  /**
   * Plugins of the kernel of the evaluation, for instance `durable()`, `recordings(file)`, or
   * providers. This kernel runs tasks, functions, judges and simulated users. Ensembles and
   * conversations use their own plugins. Default: none.
   */
  readonly plugins?: readonly Plugin[] | undefined;
  /** Prices for the kernel of the evaluation and for `budget.maxCost`. */
  readonly costConfiguration?: CostConfiguration | undefined;
  /** Time limit of a trial in milliseconds. Default 600,000. */
  readonly timeoutMs?: number | undefined;
  /** Time limit of a score in milliseconds. Default 60,000. */
  readonly scorerTimeoutMs?: number | undefined;
  /**
   * The record of a trial whose target fails. `error` (default): an error without scores. `zero`:
   * all scores are 0.
   */
  readonly onTargetError?: "error" | "zero" | undefined;
  /**
   * Distinguishes versions of the target in the ids of its runs. Default: a hash of its prompts,
   * models and tools, or of the source of a function.
   */
  readonly version?: string | undefined;
  /** The capture mode of the traces of trials. Default `STANDARD`: captures the conversations. */
  readonly captureMode?: CaptureMode | undefined;
  /**
   * A folder to which the trace of each trial is written. Reports link to the traces. Default:
   * none.
   */
  readonly traces?: string | undefined;
  /**
   * Limit of the number of cases whose outputs the result contains. The means include all cases.
   * The comparison with a baseline includes only these cases. Default 10,000.
   */
  readonly keepCases?: number | undefined;
  readonly onProgress?: ((progress: EvaluationProgress) => void) | undefined;
  /** Cancels the evaluation when it aborts. The result contains the finished trials. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `evaluate`. */
export interface EvaluateOptions<
  T extends EvaluationTarget = EvaluationTarget,
> extends EvaluationSettings<TargetInput<T>, TargetOutput<T>> {
  /**
   * An ensemble, a map-reduce, a task (requires `model`), `{ ensemble, task }`, a conversation, or
   * a function.
   */
  readonly target: T;
}

/** Options of `evaluate` for a function. */
export interface EvaluateFunctionOptions<In, Out> extends Omit<
  EvaluationSettings<In, NoInfer<Out>>,
  "scorers"
> {
  readonly target: (input: In, context: TargetContext) => Awaitable<Out>;
  /** The scorers. Their names must differ. */
  // Not NoInfer: TypeScript checks them before an untyped `context`.
  readonly scorers: readonly Scorer<In, Out>[];
}

/** Options of an evaluation for internal use, without the types of inputs and outputs. */
export interface AnyEvaluation extends EvaluationSettings<never, never> {
  readonly target: unknown;
}
