import type { ExecutionMetrics, ExitReason } from "../../../contracts/output.js";
import type { AgentSummary, ErrorTrace, ExecutionTrace, MapReduceLevelTrace, RunRecord, TaskTrace, TraceBuilder } from "../../../contracts/trace.js";
import { writeFileAtomically } from "../shared/write-file-atomically.js";
import type { HistoryTraces } from "./history-traces.js";
import { historyTraces } from "./history-traces.js";
import { mapReduceLevels } from "./map-reduce-levels.js";
import { TaskTraces } from "./task-traces.js";
import { traceJson } from "./trace-json.js";

/** The trace of one run. The lists are made from the run's record when they are first read, since most runs are never looked at. */
class RecordedTrace implements ExecutionTrace {
  readonly schemaVersion = "1.1";
  readonly captureMode = "OFF";
  readonly ensembleId: string;
  readonly workflow: string;
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly totalDurationMs: number;
  readonly exitReason: ExitReason;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly #record: RunRecord;
  readonly #tasks: TaskTraces;
  readonly #histories: HistoryTraces;
  #taskTraces: readonly TaskTrace[] | undefined;
  #agents: readonly AgentSummary[] | undefined;
  #errors: readonly ErrorTrace[] | undefined;

  constructor(record: RunRecord) {
    const clock = (ms: number): Date => new Date(record.startedAt.getTime() + (ms - record.startedMs));
    this.ensembleId = record.run.id;
    this.workflow = record.workflow;
    this.startedAt = record.startedAt;
    this.completedAt = clock(record.endedMs);
    this.totalDurationMs = Math.max(0, record.endedMs - record.startedMs);
    this.exitReason = record.exitReason;
    this.inputs = record.run.inputs;
    this.#histories = historyTraces(record.reports);
    const { phases } = this.#histories;
    this.metadata = Object.freeze({
      tags: record.run.tags,
      ...(record.warnings.length > 0 ? { warnings: record.warnings } : {}),
      ...(phases.length > 0 ? { phases } : {}),
    });
    this.#record = record;
    this.#tasks = new TaskTraces(record, clock);
    Object.freeze(this);
  }

  get metrics(): ExecutionMetrics {
    return this.#record.metrics;
  }

  get taskTraces(): readonly TaskTrace[] {
    return (this.#taskTraces ??= this.#tasks.topLevel());
  }

  get agents(): readonly AgentSummary[] {
    return (this.#agents ??= this.#tasks.agents());
  }

  get errors(): readonly ErrorTrace[] {
    return (this.#errors ??= this.#tasks.errors());
  }

  get mapReduceLevels(): readonly MapReduceLevelTrace[] {
    return mapReduceLevels(this.taskTraces);
  }

  toJson(): string {
    return JSON.stringify(traceJson(this, this.#histories), null, 2);
  }

  /** For `JSON.stringify(trace)`: the same document as `toJson()`. */
  toJSON(): unknown {
    return traceJson(this, this.#histories);
  }

  async save(path: string): Promise<void> {
    await writeFileAtomically(path, this.toJson());
  }
}

/** Builds traces of schema 1.1 from the records that runs leave behind. */
export const recordedTraceBuilder: TraceBuilder = Object.freeze({
  build: (record: RunRecord): ExecutionTrace => new RecordedTrace(record),
});
