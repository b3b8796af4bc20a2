import type { EnsembleOptions, LogEntry, RunStore, RunSummary } from "agentensemble";
import { redacted } from "agentensemble/observability";

/** A log of runs in memory, and a listener that writes it. The state of a run is `running` until its end. */
export function memoryLog(): {
  readonly log: RunStore;
  readonly record: NonNullable<EnsembleOptions["on"]>;
} {
  const entries = new Map<string, LogEntry[]>();
  const summaries = new Map<string, RunSummary>();
  const log: RunStore = {
    append: (runId, more) => void entries.set(runId, [...(entries.get(runId) ?? []), ...more]),
    put: (summary) => void summaries.set(summary.runId, summary),
    list: ({ tags = {} }) => {
      const runs = [...summaries.values()]
        .filter((run) => Object.entries(tags).every(([name, value]) => run.tags[name] === value))
        .reverse();
      return { runs, total: runs.length };
    },
    get: (runId) => summaries.get(runId),
    read: (runId, after, limit) =>
      (entries.get(runId) ?? []).filter(({ n }) => n > after).slice(0, limit),
    remove: (runId) => void entries.delete(runId),
  };
  const record: NonNullable<EnsembleOptions["on"]> = (event) => {
    const { runId } = event;
    if (event.type === "run_planned") {
      const { tags, ensemble } = event;
      const summary = { runId, tags, ensemble: ensemble.name ?? "", state: "running" };
      summaries.set(runId, summary as unknown as RunSummary); // what a handler reads
    }
    const summary = summaries.get(runId);
    if (event.type === "ensemble_completed" && summary !== undefined)
      summaries.set(runId, { ...summary, state: "done" });
    const known = entries.get(runId) ?? [];
    entries.set(runId, known);
    known.push({ ...redacted(event), n: known.length });
  };
  return { log, record };
}
