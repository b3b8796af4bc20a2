import type { CostEstimate } from "../../../contracts/cost.js";
import type { ExecutionMetrics, ExitReason } from "../../../contracts/output.js";
import type { AgentSummary } from "../../../contracts/dag.js";
import type {
  ErrorTrace,
  ExecutionTrace,
  GraphTrace,
  LoopTrace,
  MapReduceLevelTrace,
  PhaseTrace,
  ReviewTrace,
  RunRecord,
  TaskTrace,
  TraceBuilder,
} from "../../../contracts/trace.js";
import type { Redactor } from "../../../contracts/redaction.js";
import type { Fields } from "../../../util/objects.js";
import { TracedValuesToken } from "../../../contracts/run-value.js";
import { ValidationError } from "../../../contracts/errors.js";
import { REDACTOR } from "../../../contracts/redaction.js";
import { writeTraceFile, writeTraceFolder } from "../shared/trace-files.js";
import { historyTraces } from "./history-traces.js";
import { TraceKeeper } from "./keeper.js";
import { reviewTraces } from "./review-traces.js";
import { mapReduceLevels } from "./map-reduce-levels.js";
import { TaskTraces } from "./task-traces.js";
import { TracedFiles } from "./traced-files.js";
import { traceJson, traceJsonPieces } from "./trace-json.js";
import { messageOf } from "../../../util/errors.js";
import { isObject } from "../../../util/objects.js";

/** The parts that were created on their first read. */
interface Made {
  inputs?: Fields;
  values?: Fields;
  agents?: readonly AgentSummary[];
  taskTraces?: readonly TaskTrace[];
  errors?: readonly ErrorTrace[];
}

/**
 * Returns the traced form of a value of the run. If the function throws, only this value is
 * affected.
 */
function shownValue(show: () => unknown): unknown {
  try {
    return show();
  } catch (error) {
    return `[the trace option failed: ${messageOf(error)}]`;
  }
}

/**
 * The trace of one run. Its parts are created from the record of the run on their first read,
 * because most traces are never read.
 */
class RecordedTrace implements ExecutionTrace {
  readonly schemaVersion = "1.3";
  readonly captureMode: string;
  readonly ensembleId: string;
  readonly workflow: string;
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly totalDurationMs: number;
  readonly exitReason: ExitReason;
  readonly loopTraces: readonly LoopTrace[];
  declare readonly graphTrace?: GraphTrace;
  readonly phases: readonly PhaseTrace[];
  declare readonly reviews?: readonly ReviewTrace[];
  readonly #record: RunRecord;
  readonly #keeper: TraceKeeper;
  readonly #files: TracedFiles;
  readonly #tasks: TaskTraces;
  readonly #made: Made = {};

  constructor(record: RunRecord) {
    const clock = (ms: number): Date =>
      new Date(record.startedAt.getTime() + (ms - record.startedMs));
    this.captureMode = record.capture.name;
    this.ensembleId = record.run.id;
    this.workflow = record.workflow;
    this.startedAt = record.startedAt;
    this.completedAt = clock(record.endedMs);
    this.totalDurationMs = Math.max(0, record.endedMs - record.startedMs);
    this.exitReason = record.exitReason;
    this.#record = record;
    this.#keeper = new TraceKeeper(record.capture, {
      redactText: (text) => record.redactor.redactText(text),
      redactValue: (value) => record.redactor.redactValue(value),
    });
    const { loopTraces, graphTrace, phases } = historyTraces(record.reports, this.#keeper);
    this.loopTraces = loopTraces;
    if (graphTrace !== undefined) this.graphTrace = graphTrace;
    this.phases = phases;
    if (record.reviews.length > 0) this.reviews = reviewTraces(record.reviews, clock, this.#keeper);
    this.#files = new TracedFiles(record.capture, this.#keeper);
    this.#tasks = new TaskTraces(record, { clock, keeper: this.#keeper, files: this.#files });
    Object.freeze(this);
  }

  get [REDACTOR](): Redactor {
    return this.#record.redactor;
  }

  get metrics(): ExecutionMetrics {
    return this.#record.metrics;
  }

  get totalCostEstimate(): CostEstimate | undefined {
    return this.#record.metrics.costEstimate;
  }

  get traceId(): string | undefined {
    return this.#record.traceId;
  }

  get inputs(): Fields {
    return (this.#made.inputs ??= capturedInputs(this.#keeper.value(this.#record.run.inputs)));
  }

  get values(): Fields | undefined {
    const traced = this.#record.run.find(TracedValuesToken);
    if (traced === undefined) return undefined;
    return (this.#made.values ??= Object.freeze(
      Object.fromEntries(
        [...traced].map(([name, show]) => [name, this.#keeper.value(shownValue(show))]),
      ),
    ));
  }

  /** Created at each read, because an exporter may cause a warning while it reads the trace. */
  get metadata(): Fields {
    const { run, warnings } = this.#record;
    return Object.freeze({
      tags: this.#keeper.value(run.tags) ?? {},
      ...(warnings.length > 0
        ? { warnings: warnings.map((warning) => this.#keeper.text(warning)) }
        : {}),
    });
  }

  get taskTraces(): readonly TaskTrace[] {
    return (this.#made.taskTraces ??= this.#tasks.topLevel());
  }

  get agents(): readonly AgentSummary[] {
    return (this.#made.agents ??= this.#tasks.agents());
  }

  get errors(): readonly ErrorTrace[] {
    return (this.#made.errors ??= this.#tasks.errors());
  }

  get mapReduceLevels(): readonly MapReduceLevelTrace[] {
    return mapReduceLevels(this.#record);
  }

  toJson(): string {
    try {
      return JSON.stringify(traceJson(this), null, 2);
    } catch (cause) {
      throw new ValidationError("The trace is too large for one text", {
        cause,
        hint: "Write it with save(), or choose a capture mode that keeps less.",
      });
    }
  }

  /** Returns the document of `toJson()`, for `JSON.stringify(trace)`. */
  toJSON(): unknown {
    return traceJson(this);
  }

  async save(path: string): Promise<void> {
    await writeTraceFile(path, traceJsonPieces(this, this.#made.taskTraces ?? this.#tasks.each()));
    await writeTraceFolder(path, this.#files.all);
  }
}

function capturedInputs(value: unknown): Fields {
  if (value === undefined) return {};
  return isObject(value) ? value : { inputs: value }; // the `redact` of a mode may return any value
}

/** Builds traces of schema 1.3 from the records of runs. */
export const recordedTraceBuilder: TraceBuilder = Object.freeze({
  build: (record: RunRecord): ExecutionTrace => new RecordedTrace(record),
});
