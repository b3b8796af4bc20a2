import type { LogEntry, RunSummary } from "../../../../src/contracts/run-store.js";

const COUNTS = { idle: 0, running: 0, waiting: 0, done: 0, failed: 0, stopped: 0 };
const TOTALS = { inputTokens: 0, outputTokens: 0, unknownCalls: 0, cost: 0, calls: 0, tools: 0 };

/** A summary of an ended run, with the given fields changed. */
export function summaryOf(runId: string, o: Partial<RunSummary> = {}): RunSummary {
  return {
    runId,
    ensemble: "",
    workflow: "SEQUENTIAL",
    state: "done",
    startedAt: "2026-01-01T00:00:00.000Z",
    n: 0,
    inputs: {},
    tags: {},
    counts: COUNTS,
    totals: TOTALS,
    ...o,
  };
}

/** An entry that changes no state. */
export function entryOf(n: number, fields: object = {}): LogEntry {
  return { n, at: "2026-01-01T00:00:00.000Z", type: "run_warning", message: `${n}`, ...fields };
}
