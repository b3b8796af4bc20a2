import type { LogEntry, RunStore, RunSummary } from "../../../contracts/run-store.js";
import { checkOptions, requireInteger } from "../../../contracts/validation.js";
import { CUT, slimEntry } from "../protocol/slim.js";
import { pageOfRuns } from "./run-query.js";

/** Limits of runs in memory. */
export interface RunMemoryOptions {
  /**
   * Maximum number of runs. Beyond it, the run that ended and was stored first is removed. Default
   * 100.
   */
  readonly maxRuns?: number | undefined;
  /**
   * Maximum number of entries of a run with their texts. Default 200,000. Older entries lose
   * prompts, answers, arguments and results.
   */
  readonly maxEntries?: number | undefined;
}

interface KeptRun {
  summary: RunSummary | undefined;
  readonly entries: LogEntry[];
  /** Entries before this position have no texts. */
  trimmed: number;
  trace?: string;
}

const GOING_ON: ReadonlySet<RunSummary["state"] | undefined> = new Set([
  undefined,
  "running",
  "waiting",
]);

/**
 * Returns a store of runs with the lifetime of the object. Arguments and return values are copied.
 * @throws ValidationError for limits below 1.
 */
export function inMemoryRuns(o: RunMemoryOptions = {}): RunStore {
  checkOptions("RunStore.inMemory", o, ["maxRuns", "maxEntries"]);
  requireInteger("RunStore.inMemory maxRuns", o.maxRuns, 1, "1 or more");
  requireInteger("RunStore.inMemory maxEntries", o.maxEntries, 1, "1 or more");
  return new MemoryRuns(o.maxRuns ?? 100, o.maxEntries ?? 200_000);
}

class MemoryRuns implements RunStore {
  readonly #runs = new Map<string, KeptRun>();

  readonly #maxRuns: number;
  readonly #maxEntries: number;

  constructor(maxRuns: number, maxEntries: number) {
    this.#maxRuns = maxRuns;
    this.#maxEntries = maxEntries;
  }

  append(runId: string, entries: readonly LogEntry[]): void {
    const run = this.#run(runId);
    for (const entry of entries)
      if (entry.n > (run.entries.at(-1)?.n ?? -1)) run.entries.push(structuredClone(entry));
    for (; run.entries.length - run.trimmed > this.#maxEntries; run.trimmed++) {
      const old = run.entries[run.trimmed];
      if (old !== undefined) run.entries[run.trimmed] = { ...slimEntry(old, CUT), trimmed: true };
    }
  }

  put(summary: RunSummary): void {
    this.#run(summary.runId).summary = structuredClone(summary);
    for (const [runId, { summary: old }] of this.#runs) {
      if (this.#runs.size <= this.#maxRuns) break;
      if (runId !== summary.runId && !GOING_ON.has(old?.state)) this.#runs.delete(runId);
    }
  }

  list(query: Parameters<RunStore["list"]>[0]): ReturnType<RunStore["list"]> {
    const summaries = [...this.#runs.values()].flatMap(({ summary }) => summary ?? []);
    return structuredClone(pageOfRuns(summaries, query));
  }

  get(runId: string): RunSummary | undefined {
    return structuredClone(this.#runs.get(runId)?.summary);
  }

  read(runId: string, after: number, limit: number): readonly LogEntry[] {
    const { entries = [] } = this.#runs.get(runId) ?? {};
    const first = entries.findIndex(({ n }) => n > after);
    return first < 0 ? [] : structuredClone(entries.slice(first, first + limit));
  }

  remove(runId: string): void {
    this.#runs.delete(runId);
  }

  putTrace(runId: string, trace: string): void {
    this.#run(runId).trace = trace;
  }

  trace(runId: string): string | undefined {
    return this.#runs.get(runId)?.trace;
  }

  #run(runId: string): KeptRun {
    let run = this.#runs.get(runId);
    if (run === undefined) {
      run = { summary: undefined, entries: [], trimmed: 0 };
      this.#runs.set(runId, run);
    }
    return run;
  }
}
