import assert from "node:assert/strict";
import type { ExecutionMetrics } from "../../contracts/output.js";
import type {
  ErrorTrace,
  ExecutionTrace,
  TaskTrace,
  TraceExporter,
} from "../../contracts/trace.js";
import type { Awaitable } from "../../contracts/types.js";
import { NO_METRICS } from "../../contracts/output.js";
import { checkOptions } from "../../contracts/validation.js";

/** An exporter set up for one test. */
export interface TraceExporterUnderTest {
  readonly exporter: TraceExporter;
  /**
   * Returns the ids of the runs whose traces have arrived, in any order. If absent, they are not
   * checked.
   */
  exported?(): Awaitable<readonly string[]>;
  close?(): Awaitable<void>;
}

/** Options of `traceExporterContract`. */
export interface TraceExporterContractOptions {
  /** Called once per test. */
  create(): Awaitable<TraceExporterUnderTest>;
}

const METRICS: ExecutionMetrics = Object.freeze({
  ...NO_METRICS,
  inputTokens: 12,
  outputTokens: 3,
  totalTokens: 15,
  llmCallCount: 1,
  llmLatencyMs: 40,
  unknownUsageCalls: 0,
  ledger: Object.freeze([]),
  tools: Object.freeze([]),
  tasks: Object.freeze([]),
});

const PLACE = Object.freeze({
  taskId: "task-1",
  agentRole: "Tester",
  taskDescription: "Say hello",
});

/** Creates a trace of a run with one task. It is frozen, so a change by an exporter throws. */
function traceOf(runId: string, failed = false): ExecutionTrace {
  const startedAt = new Date(Date.UTC(2026, 0, 1));
  const completedAt = new Date(startedAt.getTime() + 40);
  const times = { startedAt, completedAt };
  const data = {
    schemaVersion: "1.3",
    captureMode: "OFF",
    ensembleId: runId,
    workflow: "SEQUENTIAL",
    ...times,
    totalDurationMs: 40,
    exitReason: failed ? ("ERROR" as const) : ("COMPLETED" as const),
    inputs: Object.freeze({ topic: "Grüße \u2028 <&>" }),
    agents: Object.freeze([
      Object.freeze({
        role: "Tester",
        goal: "Test",
        background: undefined,
        toolNames: Object.freeze([]),
        allowDelegation: false,
      }),
    ]),
    taskTraces: Object.freeze([taskTraceOf(times, failed)]),
    metrics: METRICS,
    errors: Object.freeze(failed ? [errorOf(completedAt)] : []),
    loopTraces: Object.freeze([]),
    phases: Object.freeze([]),
    metadata: Object.freeze({}),
  };
  const toJson = (): string => JSON.stringify(data, undefined, 2);
  const save = async (path: string): Promise<void> => {
    const { mkdir, writeFile } = await import("node:fs/promises");
    const { dirname } = await import("node:path");
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, toJson());
  };
  return Object.freeze({ ...data, toJson, save });
}

function taskTraceOf(
  times: Pick<TaskTrace, "startedAt" | "completedAt">,
  failed: boolean,
): TaskTrace {
  return Object.freeze({
    ...PLACE,
    ...times,
    durationMs: 40,
    parentTaskId: undefined,
    dependsOn: [],
    attempt: 1,
    outcome: failed ? "failed" : "ok",
    expectedOutput: "A greeting",
    prompts: undefined,
    llmInteractions: Object.freeze([]),
    toolCalls: Object.freeze([]),
    delegations: Object.freeze([]),
    finalOutput: failed ? undefined : "Hello",
    parsedOutput: undefined,
    metrics: METRICS,
    memory: Object.freeze([]),
  });
}

function errorOf(occurredAt: Date): ErrorTrace {
  return Object.freeze({
    ...PLACE,
    errorType: "Error",
    code: "AE_VALIDATION",
    message: "no",
    stackTrace: undefined,
    occurredAt,
  });
}

/**
 * Registers tests with the global `describe` and `it` of any runner that every trace exporter
 * should pass.
 *
 * @example
 * traceExporterContract("my exporter", {
 *   create: () => ({ exporter: myExporter(server.url), exported: () => server.runIds }),
 * });
 * @throws ValidationError for an unknown option.
 */
export function traceExporterContract(name: string, options: TraceExporterContractOptions): void {
  checkOptions("traceExporterContract()", options, ["create"]);
  const exporting = async (traces: readonly ExecutionTrace[], together = false): Promise<void> => {
    const { exporter, exported, close } = await options.create();
    const send = async (trace: ExecutionTrace): Promise<void> =>
      typeof exporter === "function" ? exporter(trace) : exporter.export(trace);
    try {
      if (together) await Promise.all(traces.map(send));
      else for (const trace of traces) await send(trace);
      const arrived = await exported?.();
      if (arrived !== undefined)
        assert.deepEqual([...arrived].sort(), traces.map(({ ensembleId }) => ensembleId).sort());
    } finally {
      await close?.();
    }
  };
  describe(`trace exporter contract: ${name}`, () => {
    it("accepts the trace of a run, and leaves it unchanged", () => exporting([traceOf("run-1")]));
    it("accepts the trace of a failed run", () => exporting([traceOf("run-1", true)]));
    it("accepts consecutive traces", () =>
      exporting([traceOf("run-1"), traceOf("run-2"), traceOf("run-3", true)]));
    it("accepts concurrent traces", () =>
      exporting([traceOf("run-1"), traceOf("run-2"), traceOf("run-3", true)], true));
    it("keeps a run's id with any characters", () => exporting([traceOf("../a run: ä/1\n")]));
  });
}
