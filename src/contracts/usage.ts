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
  /** 1 for the first try of this call. */
  readonly attempt: number;
  readonly outcome: "ok" | "answered" | "failed" | "aborted";
  readonly tags: Readonly<Record<string, string>>;
}
