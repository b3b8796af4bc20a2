import type { ClaimRequest, JournalEntry, RunResult, RunStart } from "agentensemble";

export function startOf(runId: string, o: Partial<RunStart> = {}): RunStart {
  return { runId, ensemble: "press", inputs: {}, inputsHash: "h", tags: {}, ...o };
}

export function claimOf(runId: string, o: Partial<ClaimRequest> = {}): ClaimRequest {
  const { signal } = new AbortController();
  return { start: startOf(runId), owner: "test", leaseMs: 10_000, signal, ...o };
}

export function entryOf(key: string, o: Partial<JournalEntry> = {}): JournalEntry {
  return { key, kind: "step", task: "t@1", value: `${key}'s`, ...o };
}

export function resultOf(runId: string, o: Partial<RunResult> = {}): RunResult {
  const metrics = { inputTokens: 1, outputTokens: 1, totalTokens: 2, llmCallCount: 1, toolCallCount: 0 }; // prettier-ignore
  return { runId, exitReason: "COMPLETED", raw: "done", taskOutputs: [], metrics, ...o };
}

export { reviewNamed as reviewOf } from "../../../../src/plugins/testing/journal-runs.js";
