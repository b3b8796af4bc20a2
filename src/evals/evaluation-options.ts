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
  /** Input and output tokens of all calls, those of judges included. */
  readonly maxTokens?: number | undefined;
  /** Needs `costConfiguration`. */
  readonly maxCost?: number | undefined;
  /** Milliseconds from the start. */
  readonly maxDurationMs?: number | undefined;
}

/** How far an evaluation is. */
export interface EvaluationProgress {
  /** Trials that are over. */
  readonly done: number;
  readonly total: number;
  /** Trials without an output, and scores with an error. */
  readonly errors: number;
  readonly elapsedMs: number;
  /** By the trials so far; missing before the first. */
  readonly remainingMs?: number | undefined;
  /** Of targets and judges; missing without prices. */
  readonly cost?: number | undefined;
}

/** Which cases are evaluated. Cases that match one of `ids` or one of `tags`. */
export interface CaseSelection {
  readonly ids?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  /** At most this many of them, drawn by the seed. Default: all. */
  readonly sample?: number | undefined;
}

/** Options of `evaluate` besides the target: `In` and `Out` are the types of its inputs and outputs. */
export interface EvaluationSettings<In = unknown, Out = unknown> {
  /** Of the evaluation, in reports and ids. */
  readonly name: string;
  readonly dataset: EvaluationDataset<In, Out> | readonly EvaluationCase<In, Out>[];
  /** Names must differ. */
  readonly scorers: readonly Scorer<In, Out>[];
  /** How often each case is tried, 1 to 100. Default 1. */
  readonly trials?: number | undefined;
  /** Trials at a time. Default 4. */
  readonly concurrency?: number | undefined;
  readonly budget?: EvaluationBudget | undefined;
  /** An earlier result of the same dataset, or the JSON file of one. */
  readonly baseline?: string | EvaluationResult | undefined;
  /** A baseline of another version of the dataset: `refuse` it (default), or `compare` the cases that did not change. A baseline that did not keep all of its cases is refused. */
  readonly onDatasetChange?: "refuse" | "compare" | undefined;
  readonly only?: CaseSelection | undefined;
  /** Of all random numbers. An integer from 0 to 4,294,967,295. Default 1. */
  readonly seed?: number | undefined;
  /** Of intervals. Default 0.95. */
  readonly confidence?: number | undefined;
  /** The least difference of a mean that matters, for the verdict. Default 0.05. */
  readonly minDifference?: number | undefined;
  /** Of targets that are tasks, of judges and of simulated users. */
  readonly model?: ModelRef | undefined;
  /** For `semanticSimilarity`. */
  readonly embeddingModel?: EmbeddingModel | undefined;
  /** Of the kernel that the evaluation makes for tasks, functions, judges and simulated users: `durable()`, `recordings(file)`, providers. Ensembles and conversations keep their own. */
  readonly plugins?: readonly Plugin[] | undefined;
  /** Prices for the kernel of the evaluation and for `budget.maxCost`. */
  readonly costConfiguration?: CostConfiguration | undefined;
  /** Time limit of a trial in milliseconds. Default 600,000. */
  readonly timeoutMs?: number | undefined;
  /** Time limit of a score in milliseconds. Default 60,000. */
  readonly scorerTimeoutMs?: number | undefined;
  /** A trial whose target fails: an `error` that is no score (default), or `zero` for all scorers. */
  readonly onTargetError?: "error" | "zero" | undefined;
  /** Distinguishes versions of the target in the ids of its runs. Default: a hash of its prompts, models and tools; of functions, of their source. */
  readonly version?: string | undefined;
  /** How much of the trials' runs their traces keep. Default `STANDARD`, which has the conversations. */
  readonly captureMode?: CaptureMode | undefined;
  /** Writes the trace of each trial to this folder. Reports link to them. Default: none. */
  readonly traces?: string | undefined;
  /** Cases whose outputs the result keeps. The figures count all. Default 10,000. */
  readonly keepCases?: number | undefined;
  readonly onProgress?: ((progress: EvaluationProgress) => void) | undefined;
  /** Cancels the evaluation: the result has the trials that are over. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `evaluate`. */
export interface EvaluateOptions<
  T extends EvaluationTarget = EvaluationTarget,
> extends EvaluationSettings<TargetInput<T>, TargetOutput<T>> {
  /** An ensemble, a map-reduce, a task (needs `model`), `{ ensemble, task }`, a conversation, or a function. */
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

/** Options of an evaluation inside of this folder, where the types of inputs and outputs do not matter. */
export interface AnyEvaluation extends EvaluationSettings<never, never> {
  readonly target: unknown;
}
