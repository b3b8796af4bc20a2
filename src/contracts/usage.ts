import type { Purpose } from "./chat-model.js";

/**
 * Usage of one attempt of one model call. Unreported tokens are -1. A call that the vendor refused
 * has used 0 tokens.
 */
export interface UsageRecord {
  readonly runId: string;
  readonly taskId: string;
  readonly parentTaskId?: string | undefined;
  readonly agentRole: string;
  readonly purpose: Purpose;
  readonly provider: string;
  readonly modelId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
  /**
   * The cost by `costConfiguration`. Missing without `costConfiguration`, or if the tokens are
   * unknown.
   */
  readonly cost?: number | undefined;
  /**
   * The cost of the input tokens, a part of `cost`. Missing if a price function returned only the
   * sum.
   */
  readonly inputCost?: number | undefined;
  readonly outputCost?: number | undefined;
  readonly currency?: string | undefined;
  readonly latencyMs: number;
  /**
   * Present if the recording of an earlier run answered the call. `cost` is then the original cost.
   */
  readonly recorded?: true | undefined;
  /** Number of calls in this record. Default 1. */
  readonly calls?: number | undefined;
  /** The process that made the call, if it was another process: see `ForeignUsage`. */
  readonly source?: string | undefined;
  /** The number of the attempt of this call, from 1. */
  readonly attempt: number;
  readonly outcome: "ok" | "answered" | "failed" | "aborted";
  readonly tags: Readonly<Record<string, string>>;
  /**
   * The task whose handler or tool started the run `runId`. Present if that run was started with
   * the context of the task as `RunOptions.parent`.
   */
  readonly caller?: { readonly runId: string; readonly taskId: string } | undefined;
}

/**
 * Tokens used by another process on behalf of a task, one entry for each model. Unknown counts are
 * absent.
 */
export interface ForeignUsage {
  /** The process that used the tokens, for instance the address of a service. */
  readonly source?: string | undefined;
  readonly provider: string;
  readonly modelId: string;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
  /** Number of model calls. Default 1. */
  readonly calls?: number | undefined;
  /** The cost of the calls. Default: calculated by the run's `costConfiguration`. */
  readonly cost?: number | undefined;
  /** Currency of `cost`. Default `USD`. */
  readonly currency?: string | undefined;
}

/** Tokens used by an earlier execution of the same run. */
export interface SpentUsage extends ForeignUsage {
  readonly taskId?: string | undefined;
  readonly agentRole?: string | undefined;
  /** The purpose of the calls. Default `task`. */
  readonly purpose?: Purpose | undefined;
  /**
   * Whether the journal answers the calls in this execution. The usage then counts only in budgets.
   * Default false.
   */
  readonly restored?: boolean | undefined;
}

/** Usage of calls that were answered from a journal. */
export interface SavedUsage {
  readonly llmCalls: number;
  readonly toolCalls: number;
  /** Number of tokens of the calls that reported them. */
  readonly tokens: number;
  /** The cost of the calls with a known price. Absent if no price is known. */
  readonly cost?: number | undefined;
  readonly currency?: string | undefined;
}
