import type { EnsembleOutput, ExecutionMetrics, TaskOutput } from "../contracts/output.js";
import { toJsonValue } from "../util/json/to-json-value.js";
import { errorJson } from "./report-error.js";

type JsonFields = Readonly<Record<string, unknown>>;

function taskJson({
  taskId,
  agentRole,
  taskDescription,
  raw,
  parsed,
  completedAt,
  durationMs,
  toolCallCount,
  metrics,
}: TaskOutput): JsonFields {
  return {
    taskId,
    agentRole,
    taskDescription,
    raw,
    parsed,
    completedAt,
    durationMs,
    toolCallCount,
    metrics,
  };
}

/**
 * Returns only the sums. The trace contains the records of calls, and the tasks contain their
 * metrics.
 */
function totals({ ledger: _ledger, tasks: _tasks, ...sums }: ExecutionMetrics): JsonFields {
  return sums;
}

/**
 * Returns a run in the form of `--json`. `parsed` is the value of the last completed task.
 * `unsaved` is the reason why there is no file at `tracePath`.
 */
export function runJson(
  output: EnsembleOutput,
  tracePath: string | undefined,
  unsaved?: unknown,
): JsonFields {
  return toJsonValue({
    runId: output.runId,
    exitReason: output.exitReason,
    isComplete: output.isComplete,
    raw: output.raw,
    parsed: output.lastCompletedOutput?.parsed ?? null,
    tasks: output.taskOutputs.map(taskJson),
    metrics: totals(output.metrics),
    durationMs: output.totalDurationMs,
    totalToolCalls: output.totalToolCalls,
    trace: unsaved === undefined ? (tracePath ?? null) : null,
    ...(unsaved !== undefined && { traceError: errorJson(unsaved) }),
    ...(output.error !== undefined && { error: errorJson(output.error) }),
  }) as JsonFields; // an object remains an object
}
