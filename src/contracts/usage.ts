import type { Purpose } from "./chat-model.js";

/**
 * Usage of one attempt of one model call. Unreported tokens are -1; a call that the vendor refused
 * has used 0.
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
  /** By `costConfiguration`; missing without one, or with unknown tokens. */
  readonly cost?: number | undefined;
  /** The parts of `cost`; missing if a price function returned it. */
  readonly inputCost?: number | undefined;
  readonly outputCost?: number | undefined;
  readonly currency?: string | undefined;
  readonly latencyMs: number;
  /**
   * Whether the recording of an earlier run answered the call: `cost` is the original cost. Default
   * false.
   */
  readonly recorded?: true | undefined;
  /** Number of calls in this record. Default 1. */
  readonly calls?: number | undefined;
  /** The process that made the call, if it was another: see `ForeignUsage`. */
  readonly source?: string | undefined;
  /** 1 for the first attempt of this call. */
  readonly attempt: number;
  readonly outcome: "ok" | "answered" | "failed" | "aborted";
  readonly tags: Readonly<Record<string, string>>;
  /**
   * The task whose handler or tool started the run `runId`. Present if that run was started with a
   * context as `RunOptions.parent`.
   */
  readonly caller?: { readonly runId: string; readonly taskId: string } | undefined;
}

/**
 * Tokens used by another process on behalf of a task, one entry for each model. Unknown counts are
 * absent.
 */
export interface ForeignUsage {
  /** The user of the tokens, for instance the address of a service. */
  readonly source?: string | undefined;
  readonly provider: string;
  readonly modelId: string;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
  /** Number of model calls. Default 1. */
  readonly calls?: number | undefined;
  /** The cost of the calls. Default: by the run's `costConfiguration`. */
  readonly cost?: number | undefined;
  /** Currency of `cost`. Default `USD`. */
  readonly currency?: string | undefined;
}

/** Tokens used by an earlier execution of the same run. */
export interface SpentUsage extends ForeignUsage {
  readonly taskId?: string | undefined;
  readonly agentRole?: string | undefined;
  /** Default `task`. */
  readonly purpose?: Purpose | undefined;
  /**
   * Whether this execution restores the calls, so that only budgets count the usage here. Default
   * false.
   */
  readonly restored?: boolean | undefined;
}

/** Usage of calls answered from a journal. */
export interface SavedUsage {
  readonly llmCalls: number;
  readonly toolCalls: number;
  /** Tokens of the calls that reported them. */
  readonly tokens: number;
  /** Cost, as far as prices are known. */
  readonly cost?: number | undefined;
  readonly currency?: string | undefined;
}
