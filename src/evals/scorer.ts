import type { ChatRequest, ChatResponse, ModelRef } from "../contracts/chat-model.js";
import type { Awaitable } from "../contracts/types.js";
import type { NamedCase } from "./evaluation-case.js";
import type { TrialWay } from "./trial-way.js";

/** A score: 1 is best, 0 worst. */
export interface Score {
  /** 0 to 1. */
  readonly value: number;
  /** The reason, for people. */
  readonly reason?: string | undefined;
  /** The evidence of the score: differences, votes, quotations. JSON. */
  readonly evidence?: unknown;
}

/** The subject of a scorer: one output of one trial of a case. */
export interface Sample<In = unknown, Out = unknown> {
  readonly case: NamedCase<In, Out>;
  readonly input: In;
  readonly output: Out;
  readonly expected: Out | undefined;
  /** From 1. */
  readonly trial: number;
  /** The steps of the target towards the output. */
  readonly way: TrialWay;
  /** The output of the same case and trial in the baseline; absent without a baseline. */
  readonly baseline?: { readonly output: unknown } | undefined;
}

/** The functions for scorers. */
export interface ScorerContext {
  /** Aborted at the time limit of the score, and when the evaluation is cancelled. */
  readonly signal: AbortSignal;
  /**
   * Calls a model with the purpose `judge`: with retries, rate limits, recordings and the budget of
   * the evaluation. Its calls are counted separately from those of the target. Default model: that
   * of the evaluation. @throws ValidationError without a model; the error of the call.
   */
  chat(request: ChatRequest, options?: { readonly model?: ModelRef }): Promise<ChatResponse>;
  /** The vectors of texts, by the embedding model of the evaluation. @throws ValidationError without one. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

/** A value from 0 to 1, `true` for 1, `false` for 0. `undefined`: the scorer does not apply to the sample. */
export type ScoreValue = Score | number | boolean | undefined;

/**
 * Judges a sample. Its default name is that of the function. An error that it throws is an error of
 * the score, not a score of zero.
 */
export interface Scorer<In = never, Out = never> {
  (sample: Sample<In, Out>, context: ScorerContext): Awaitable<ScoreValue>;
  /** In reports, options and results. */
  readonly name: string;
  /** The minimum value of a sample that passes. Default 1. */
  readonly passAt?: number | undefined;
}

/** Settings of a scorer. */
export interface ScorerOptions {
  /** Default: the name of the kind of scorer. */
  readonly name?: string | undefined;
  /** The minimum value of a sample that passes. */
  readonly passAt?: number | undefined;
}
