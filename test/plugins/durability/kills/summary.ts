import type { EnsembleOutput } from "agentensemble";

/** The values that must be equal for any number of kills. */
export interface RunSummary extends Pick<EnsembleOutput, "exitReason" | "raw"> {
  readonly error: string | undefined;
  readonly outputs: readonly (readonly [taskId: string, raw: string])[];
  readonly totals: Pick<
    EnsembleOutput["metrics"],
    "inputTokens" | "outputTokens" | "llmCallCount" | "toolCallCount" | "costEstimate"
  >;
}

export function summaryOf(output: EnsembleOutput): RunSummary {
  const { taskOutputs, metrics, exitReason, raw, error } = output;
  const { inputTokens, outputTokens, llmCallCount, toolCallCount, costEstimate } = metrics;
  return {
    exitReason,
    error: error?.message,
    raw,
    outputs: taskOutputs.map(({ taskId, raw: text }) => [taskId, text]),
    totals: {
      inputTokens,
      outputTokens,
      llmCallCount,
      toolCallCount,
      ...(costEstimate !== undefined && { costEstimate }),
    },
  };
}
