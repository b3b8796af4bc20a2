import type { EnsembleOutput } from "agentensemble";

/** Set to `json` in the processes that measure what it costs to write the trace of each run. */
export const TRACE_VARIABLE = "AGENTENSEMBLE_BENCH_TRACE";

const writesJson = process.env[TRACE_VARIABLE] === "json";

/** What an exporter would do with a run, where that is measured. */
export function exportTrace(output: EnsembleOutput): void {
  if (writesJson && output.trace.toJson().length === 0) throw new Error("The trace is empty");
}
