import type { ChatRequest, ChatResponse, ModelRef } from "../contracts/chat-model.js";
import type { Awaitable } from "../contracts/types.js";
import type { NamedCase } from "./evaluation-case.js";
import type { TrialWay } from "./trial-way.js";

/** A score. 1 is the best value, 0 the worst. */
export interface Score {
  /** The value, from 0 to 1. */
  readonly value: number;
  /** The reason for the score, for people. */
  readonly reason?: string | undefined;
  /** The evidence for the score as JSON data: differences, votes, quotations. */
  readonly evidence?: unknown;
}

/** The subject of a score: the output of one trial of a case. */
export interface Sample<In = unknown, Out = unknown> {
  readonly case: NamedCase<In, Out>;
  readonly input: In;
  readonly output: Out;
  readonly expected: Out | undefined;
  /** The number of the trial, from 1. */
  readonly trial: number;
  /** The steps by which the target produced the output. */
  readonly way: TrialWay;
  /** The output of the same case and trial in the baseline. Absent without a baseline. */
  readonly baseline?: { readonly output: unknown } | undefined;
}

/** The functions that a scorer may use. */
export interface ScorerContext {
  /** Aborted at the time limit of the score, and when the evaluation is cancelled. */
  readonly signal: AbortSignal;
  /**
   * Calls a model with the purpose `judge`, with retries, rate limits, recordings and the budget of
   * the evaluation. These calls are counted separately from the calls of the target. Default model:
   * the model of the evaluation.
   * @throws ValidationError without a model; the error of the call.
   */
  chat(request: ChatRequest, options?: { readonly model?: ModelRef }): Promise<ChatResponse>;
  /**
   * Returns the vectors of texts, from the embedding model of the evaluation.
   * @throws ValidationError without an embedding model.
   */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

/**
 * A value from 0 to 1, `true` for 1, or `false` for 0. `undefined`: the scorer does not apply to
 * the sample.
 */
export type ScoreValue = Score | number | boolean | undefined;

/**
 * Judges a sample. Its default name is the name of the function. If a scorer throws, the score has
 * an error. It does not count as zero.
 */
export interface Scorer<In = never, Out = never> {
  (sample: Sample<In, Out>, context: ScorerContext): Awaitable<ScoreValue>;
  /** The name in reports, options and results. */
  readonly name: string;
  /** The minimum value of a sample that passes. Default 1. */
  readonly passAt?: number | undefined;
}

/** Options common to all scorers. */
export interface ScorerOptions {
  /** The name of the scorer. Default: the name of its kind. */
  readonly name?: string | undefined;
  /** The minimum value of a sample that passes. */
  readonly passAt?: number | undefined;
}
