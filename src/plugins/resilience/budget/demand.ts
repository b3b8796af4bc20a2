import type { ChatModel } from "../../../contracts/chat-model.js";
import type { LlmCall } from "../../../contracts/hooks.js";
import type { UsageRecord } from "../../../contracts/usage.js";

/** An answer that may have fewer tokens is not worth asking for, unless the call itself wants no more. */
const LEAST_OUTPUT_TOKENS = 100;

/** What a call would like to use. */
export class Demand {
  /** Output tokens below which it is not made. */
  readonly least: number;

  constructor(
    readonly call: LlmCall,
    /** By estimate. */
    readonly inputTokens: number,
    /** Output tokens at most. */
    readonly wanted: number,
  ) {
    this.least = Math.min(wanted, LEAST_OUTPUT_TOKENS);
  }

  /** What the ledger would say of it, for prices. */
  usageOf(model: ChatModel, outputTokens: number, more: Partial<UsageRecord> = {}): UsageRecord {
    const { run, taskId, parentTaskId, agentRole, purpose, attempt } = this.call;
    return {
      runId: run.id,
      taskId,
      parentTaskId,
      agentRole,
      purpose,
      provider: model.provider,
      modelId: model.modelId,
      inputTokens: this.inputTokens,
      outputTokens,
      cachedInputTokens: 0,
      reasoningTokens: 0,
      latencyMs: 0,
      attempt,
      outcome: "ok",
      tags: run.tags,
      ...more,
    };
  }
}
