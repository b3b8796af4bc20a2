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

/** Limits of a whole evaluation. A call that would exceed one is not made, and no further trial starts. */
export interface EvaluationBudget {
  /** Input and output tokens of all calls, including those of judges. */
  readonly maxTokens?: number | undefined;
  /** Requires `costConfiguration`. */
  readonly maxCost?: number | undefined;
  /** Milliseconds from the start. */
  readonly maxDurationMs?: number | undefined;
}

/** The progress of an evaluation. */
export interface EvaluationProgress {
  /** Number of finished trials. */
  readonly done: number;
  readonly total: number;
  /** Number of trials without an output, and of scores with an error. */
  readonly errors: number;
  readonly elapsedMs: number;
  /** Estimated from the trials so far; absent before the first. */
  readonly remainingMs?: number | undefined;
  /** Cost of targets and judges; absent without prices. */
  readonly cost?: number | undefined;
}

/** The evaluated cases: those that match one of `ids` or one of `tags`. */
export interface CaseSelection {
  readonly ids?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Maximum number of these cases, sampled by the seed. Default: all. */
  readonly sample?: number | undefined;
}

/**
 * Options of `evaluate` except the target: `In` and `Out` are the types of its inputs and outputs.
 */
export interface EvaluationSettings<In = unknown, Out = unknown> {
  /** The name of the evaluation in reports and ids. */
  readonly name: string;
  readonly dataset: EvaluationDataset<In, Out> | readonly EvaluationCase<In, Out>[];
  /** Names must differ. */
  readonly scorers: readonly Scorer<In, Out>[];
  /** Number of trials of each case, 1 to 100. Default 1. */
  readonly trials?: number | undefined;
  /** Number of concurrent trials. Default 4. */
  readonly concurrency?: number | undefined;
  readonly budget?: EvaluationBudget | undefined;
  /** An earlier result of the same dataset, or the JSON file of one. */
  readonly baseline?: string | EvaluationResult | undefined;
  /**
   * A baseline of another version of the dataset: `refuse` it (default), or `compare` the cases
   * that did not change. A baseline without all of its cases is refused.
   */
  readonly onDatasetChange?: "refuse" | "compare" | undefined;
  readonly only?: CaseSelection | undefined;
  /** Seed of all random numbers. An integer from 0 to 4,294,967,295. Default 1. */
  readonly seed?: number | undefined;
  /** Confidence of intervals. Default 0.95. */
  readonly confidence?: number | undefined;
  /** The minimum difference of a mean that matters, for the verdict. Default 0.05. */
  readonly minDifference?: number | undefined;
  /** The model of targets that are tasks, of judges and of simulated users. */
  readonly model?: ModelRef | undefined;
  /** For `semanticSimilarity`. */
  readonly embeddingModel?: EmbeddingModel | undefined;
  /**
   * Plugins of the kernel that the evaluation creates for tasks, functions, judges and simulated
   * users: `durable()`, `recordings(file)`, providers. Ensembles and conversations use their own
   * plugins.
   */
  readonly plugins?: readonly Plugin[] | undefined;
  /** Prices for the kernel of the evaluation and for `budget.maxCost`. */
  readonly costConfiguration?: CostConfiguration | undefined;
  /** Time limit of a trial in milliseconds. Default 600,000. */
  readonly timeoutMs?: number | undefined;
  /** Time limit of a score in milliseconds. Default 60,000. */
  readonly scorerTimeoutMs?: number | undefined;
  /**
   * The treatment of a trial whose target fails: an `error` without a score (default), or `zero`
   * for all scorers.
   */
  readonly onTargetError?: "error" | "zero" | undefined;
  /** Distinguishes versions of the target in the ids of its runs. Default: a hash of its prompts, models and tools; of functions, of their source. */
  readonly version?: string | undefined;
  /**
   * The capture mode of the traces of trials. Default `STANDARD`, which includes the conversations.
   */
  readonly captureMode?: CaptureMode | undefined;
  /** Writes the trace of each trial to this folder. Reports link to them. Default: none. */
  readonly traces?: string | undefined;
  /**
   * Maximum number of cases whose outputs the result contains. The figures include all. Default
   * 10,000.
   */
  readonly keepCases?: number | undefined;
  readonly onProgress?: ((progress: EvaluationProgress) => void) | undefined;
  /** Cancels the evaluation: the result has the finished trials. */
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
  /** Names must differ. */
  readonly scorers: readonly Scorer<In, Out>[]; // not NoInfer: TypeScript checks them before the function whose `context` has no type
}

/**
 * Options of an evaluation within this folder, where the types of inputs and outputs do not matter.
 */
export interface AnyEvaluation extends EvaluationSettings<never, never> {
  readonly target: unknown;
}
