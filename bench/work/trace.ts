import type { EnsembleOutput } from "agentensemble";

/** `json` in the processes that measure the cost of writing the trace of each run. */
export const TRACE_VARIABLE = "AGENTENSEMBLE_BENCH_TRACE";

const writesJson = process.env[TRACE_VARIABLE] === "json";

/** Writes the trace as an exporter would, if this cost is measured. */
export function exportTrace(output: EnsembleOutput): void {
  if (writesJson && output.trace.toJson().length === 0) throw new Error("The trace is empty");
}
