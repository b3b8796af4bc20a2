import type { ChatModel } from "../../../contracts/chat-model.js";
import type { LlmCall } from "../../../contracts/hooks.js";
import type { UsageRecord } from "../../../contracts/usage.js";

/** A call with fewer output tokens than this is refused, unless it requests no more. */
const LEAST_OUTPUT_TOKENS = 100;

/** The maximum usage of a call. */
export class Demand {
  /** Minimum number of output tokens. */
  readonly least: number;

  constructor(
    readonly call: LlmCall,
    /** Estimated input tokens. */
    readonly inputTokens: number,
    /** Maximum number of output tokens. */
    readonly wanted: number,
  ) {
    this.least = Math.min(wanted, LEAST_OUTPUT_TOKENS);
  }

  /** Returns the usage in the form of the ledger, for prices. */
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
