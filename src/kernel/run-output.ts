import type { ContextFormatSavings } from "../contracts/context-format.js";
import type { CaptureModeDefinition } from "../contracts/capture.js";
import type { AgentEnsembleError } from "../contracts/errors.js";
import type {
  EnsembleOutput,
  ExecutionMetrics,
  ExitReason,
  TaskOutput,
} from "../contracts/output.js";
import type { GraphHistory } from "../contracts/graph.js";
import type { LoopHistory } from "../contracts/loop.js";
import type { Redactor } from "../contracts/redaction.js";
import type { RunInfo, RunReport } from "../contracts/run.js";
import type { AnyTask, Task } from "../contracts/task.js";
import type { ExecutionTrace, RunRecord, TaskRecord, TraceBuilder } from "../contracts/trace.js";
import type { UsageRecord } from "../contracts/usage.js";
import type { TimeBase } from "./task-record.js";
import { ValidationError } from "../contracts/errors.js";
import { redactorOf } from "./run-info.js";
import { executionMetrics } from "./ledger.js";

/** What a run left, for its output and its trace. Sums are made when they are read. */
export class FinishedRun implements RunRecord {
  #metrics: ExecutionMetrics | undefined;
  constructor(
    readonly run: RunInfo,
    readonly workflow: string,
    readonly base: TimeBase,
    readonly endedMs: number,
    readonly exitReason: ExitReason,
    readonly error: AgentEnsembleError | undefined,
    readonly tasks: readonly TaskRecord[],
    readonly ledger: readonly UsageRecord[],
    readonly warnings: readonly string[],
    readonly reports: readonly RunReport[],
    readonly capture: CaptureModeDefinition,
    readonly contextFormat?: ContextFormatSavings | undefined,
    readonly traceId?: string | undefined,
  ) {}

  get startedAt(): Date {
    return this.base.startedAt;
  }
  get startedMs(): number {
    return this.base.startedMs;
  }
  get redactor(): Redactor {
    return redactorOf(this.run);
  }
  get metrics(): ExecutionMetrics {
    return (this.#metrics ??= executionMetrics(this.ledger, this.tasks, this.contextFormat));
  }
}

/** The outcome of a run; trace and metrics are made when they are first read. */
export class RunOutput implements EnsembleOutput {
  readonly runId: string;
  readonly raw: string;
  readonly taskOutputs: readonly TaskOutput[];
  readonly totalDurationMs: number;
  readonly exitReason: ExitReason;
  readonly isComplete: boolean;
  readonly phaseOutputs: ReadonlyMap<string, readonly TaskOutput[]>;
  readonly loops: ReadonlyMap<string, LoopHistory>;
  declare readonly graph?: GraphHistory;
  declare readonly lastCompletedOutput?: TaskOutput;
  declare readonly error?: AgentEnsembleError;
  readonly #record: FinishedRun;
  readonly #builder: TraceBuilder | undefined;
  readonly #byId: ReadonlyMap<string, TaskOutput>;
  readonly #ids: ReadonlyMap<AnyTask, string>;
  #trace: ExecutionTrace | undefined;

  constructor(
    record: FinishedRun,
    result: { readonly raw: string; readonly taskOutputs: readonly TaskOutput[] },
    lookup: {
      readonly byId: ReadonlyMap<string, TaskOutput>;
      readonly ids: ReadonlyMap<AnyTask, string>;
    },
    builder: TraceBuilder | undefined,
  ) {
    this.runId = record.run.id;
    this.raw = result.raw;
    this.taskOutputs = Object.freeze([...result.taskOutputs]);
    this.totalDurationMs = record.endedMs - record.startedMs;
    this.exitReason = record.exitReason;
    this.isComplete = record.exitReason === "COMPLETED";
    const { reports } = record;
    this.phaseOutputs = new Map(
      reports.flatMap((r) => (r.kind === "phase" ? [[r.phase.name, r.outputs] as const] : [])),
    );
    this.loops = new Map(
      reports.flatMap((r) => (r.kind === "loop" ? [[r.loop.name, r.history] as const] : [])),
    );
    const graph = reports.findLast((r) => r.kind === "graph");
    if (graph?.kind === "graph") this.graph = graph.history;
    const last = this.taskOutputs.at(-1);
    if (last !== undefined) this.lastCompletedOutput = last;
    if (record.error !== undefined) this.error = record.error;
    this.#record = record;
    this.#builder = builder;
    this.#byId = lookup.byId;
    this.#ids = lookup.ids;
  }

  get completedTasks(): readonly TaskOutput[] {
    return this.taskOutputs;
  }

  get metrics(): ExecutionMetrics {
    return this.#record.metrics;
  }

  get totalToolCalls(): number {
    return this.metrics.toolCallCount;
  }

  /** @throws ValidationError on a kernel without a TraceBuilder. */
  get trace(): ExecutionTrace {
    if (this.#trace === undefined) {
      if (this.#builder === undefined)
        throw new ValidationError("This kernel has no TraceBuilder, so there is no trace", {
          hint: "Add the standard plugins, or bind Tokens.TraceBuilder.",
        });
      this.#trace = this.#builder.build(this.#record);
    }
    return this.#trace;
  }

  getOutput<T>(task: Task<T>): TaskOutput<T> | undefined {
    const id = this.#ids.get(task);
    return id === undefined ? undefined : (this.#byId.get(id) as TaskOutput<T> | undefined); // made by this very task, so of its type
  }
}
