import type { AgentEnsembleError } from "../../contracts/errors.js";
import type { GraphHistory } from "../../contracts/graph.js";
import type { LoopHistory } from "../../contracts/loop.js";
import type {
  EnsembleOutput,
  ExecutionMetrics,
  ExitReason,
  TaskOutput,
  WorkflowResult,
} from "../../contracts/output.js";
import type { Redactor } from "../../contracts/redaction.js";
import type { Task } from "../../contracts/task.js";
import type { ExecutionTrace, RunRecord, TraceBuilder } from "../../contracts/trace.js";
import type { UsageRecord } from "../../contracts/usage.js";
import type { ActiveRun } from "./active-run.js";
import { ValidationError } from "../../contracts/errors.js";
import { findOutput } from "../../contracts/output.js";
import { Tokens } from "../../contracts/tokens.js";
import { REDACTOR } from "../../contracts/redaction.js";
import { executionMetrics } from "../../contracts/metrics.js";

/** The end of a run. */
export interface RunEnd {
  readonly result: WorkflowResult;
  readonly exitReason: ExitReason;
  /** Absent if the run was completed or ended early. */
  readonly error: AgentEnsembleError | undefined;
}

/** The totals of a run. Computes them at first use. */
class RunSums {
  readonly tasks: RunRecord["tasks"];
  readonly #usage: readonly UsageRecord[];
  readonly #savings: Pick<ExecutionMetrics, "contextFormat" | "saved">;
  #metrics: ExecutionMetrics | undefined;

  constructor({ records, ledger, formatter, saved }: ActiveRun) {
    this.tasks = records;
    this.#usage = ledger.records;
    const contextFormat = formatter?.savings;
    this.#savings = { ...(contextFormat && { contextFormat }), ...(saved && { saved }) };
  }

  get metrics(): ExecutionMetrics {
    return (this.#metrics ??= executionMetrics(this.#usage, this.tasks, this.#savings));
  }
}

/** Keeps the results of a run, not the run. Builds trace and metrics at first use. */
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
  readonly #record: RunRecord;
  readonly #builder: TraceBuilder | undefined;
  #outputs: readonly TaskOutput[] | undefined;
  #trace: ExecutionTrace | undefined;

  constructor(run: ActiveRun, workflow: string, { result, exitReason, error }: RunEnd) {
    const { info, base, reports, settings } = run;
    const endedMs = run.clock.monotonicMs();
    this.runId = info.id;
    this.raw = result.raw;
    this.taskOutputs = Object.freeze([...result.taskOutputs]);
    this.totalDurationMs = endedMs - base.startedMs;
    this.exitReason = exitReason;
    this.isComplete = exitReason === "COMPLETED";
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
    if (error !== undefined) this.error = error;
    this.#record = Object.assign(new RunSums(run), {
      run: info,
      workflow,
      startedAt: base.startedAt,
      startedMs: base.startedMs,
      endedMs,
      exitReason,
      error,
      warnings: run.events.warnings,
      reports,
      reviews: run.reviews,
      capture: run.capture,
      redactor: run.redactor,
      traceId: run.traceId,
    });
    this.#builder = settings.find(Tokens.TraceBuilder);
  }

  get [REDACTOR](): Redactor {
    return this.#record.redactor;
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
    if (this.#trace !== undefined) return this.#trace;
    if (this.#builder === undefined)
      throw new ValidationError("This kernel has no TraceBuilder, so there is no trace", {
        hint: "Add the standard plugins, or bind Tokens.TraceBuilder.",
      });
    return (this.#trace = this.#builder.build(this.#record));
  }

  getOutput<T>(task: Task<T>): TaskOutput<T> | undefined {
    this.#outputs ??= this.#record.tasks.flatMap(({ output }) => output ?? []);
    return findOutput(this.#outputs, task);
  }
}
