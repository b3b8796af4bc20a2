import type { Purpose } from "./chat-model.js";

/** What one attempt of one model call used. Tokens that were not reported are -1; a call that the vendor refused has used 0. */
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
  /** By `costConfiguration`; missing where there is none, or the tokens are unknown. */
  readonly cost?: number | undefined;
  /** The parts of `cost`; missing where a price function gave it. */
  readonly inputCost?: number | undefined;
  readonly outputCost?: number | undefined;
  readonly currency?: string | undefined;
  readonly latencyMs: number;
  /** Whether the call was answered by the recording of an earlier run: `cost` is what it cost then. Default false. */
  readonly recorded?: true | undefined;
  /** How many calls it stands for. Default 1. */
  readonly calls?: number | undefined;
  /** Who made the call, where that was another process: see `ForeignUsage`. */
  readonly source?: string | undefined;
  /** 1 for the first try of this call. */
  readonly attempt: number;
  readonly outcome: "ok" | "answered" | "failed" | "aborted";
  readonly tags: Readonly<Record<string, string>>;
  /** The task whose handler or tool started the run `runId`. Present where that run was started with a context as `RunOptions.parent`. */
  readonly caller?: { readonly runId: string; readonly taskId: string } | undefined;
}

/** Tokens that another process used on behalf of a task, one entry for each model. Tokens that it does not know are absent. */
export interface ForeignUsage {
  /** Who used them, for instance the address of a service. */
  readonly source?: string | undefined;
  readonly provider: string;
  readonly modelId: string;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
  /** Number of model calls. Default 1. */
  readonly calls?: number | undefined;
  /** What they cost. Default: by the run's `costConfiguration`. */
  readonly cost?: number | undefined;
  /** Of `cost`. Default `USD`. */
  readonly currency?: string | undefined;
}

/** Tokens that an earlier execution of the same run used. */
export interface SpentUsage extends ForeignUsage {
  readonly taskId?: string | undefined;
  readonly agentRole?: string | undefined;
  /** Default `task`. */
  readonly purpose?: Purpose | undefined;
  /** Whether an answer of this execution brings it again, so that only budgets count it here. Default false. */
  readonly restored?: boolean | undefined;
}

/** What calls used that were answered from a journal instead of being made again. */
export interface SavedUsage {
  readonly llmCalls: number;
  readonly toolCalls: number;
  /** Of calls that reported them. */
  readonly tokens: number;
  /** As far as prices are known. */
  readonly cost?: number | undefined;
  readonly currency?: string | undefined;
}
