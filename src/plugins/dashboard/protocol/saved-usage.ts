import type { JsonObject } from "./json-object.js";
import type { SavedCall, SavedTask, SavedTrace } from "./saved-trace.js";

type UsageFields = Readonly<Record<string, unknown>>;

/**
 * The usage records of a saved trace. There is one for each model call, and one for work without a
 * call in the trace.
 */
export interface TraceUsage {
  readonly ofCall: ReadonlyMap<SavedCall, UsageFields>;
  /** Other usage by task id. The usage of the empty id belongs to no task of the trace. */
  readonly others: ReadonlyMap<string, readonly UsageFields[]>;
}

/**
 * Merges the ledger of a trace with its model calls. Without a ledger, the calls are the records.
 */
export function savedUsage(trace: SavedTrace, tasks: readonly SavedTask[]): TraceUsage {
  return trace.ledger.length > 0 ? ledgerUsage(trace, tasks) : callUsage(trace, tasks);
}

function ledgerUsage({ ledger }: SavedTrace, tasks: readonly SavedTask[]): TraceUsage {
  const waiting = new Map<string, SavedCall[]>();
  for (const { taskId, calls } of tasks)
    waiting.set(taskId, [...(waiting.get(taskId) ?? []), ...calls]);
  const ofCall = new Map<SavedCall, UsageFields>();
  const others = new Map<string, UsageFields[]>();
  for (const record of ledger) {
    const { latency: _latency, ...usage } = Object.fromEntries(record.entries());
    const calls = waiting.get(record.text("taskId"));
    const call = calls?.[0];
    if (call !== undefined && isRecordOf(record, call)) {
      calls?.shift();
      ofCall.set(call, { ...usage, ...callFacts(call) });
    } else {
      const taskId = calls === undefined ? "" : record.text("taskId");
      others.set(taskId, [...(others.get(taskId) ?? []), { ...usage, latencyMs: 0 }]);
    }
  }
  return { ofCall, others };
}

/**
 * Returns whether a record of the ledger belongs to a call. The usage of other processes has no
 * call.
 */
function isRecordOf(record: JsonObject, call: SavedCall): boolean {
  return (
    record.raw("source") === undefined &&
    record.text("purpose") === call.purpose &&
    record.text("provider") === call.provider &&
    record.number("attempt", 1) === call.attempt &&
    record.number("inputTokens", -1) === call.inputTokens &&
    record.number("outputTokens", -1) === call.outputTokens
  );
}

function callFacts(call: SavedCall): UsageFields {
  return {
    latencyMs: call.endMs - call.startMs,
    iteration: call.iteration,
    ...(call.error !== undefined && { error: call.error }),
    ...(call.errorCode !== undefined && { errorCode: call.errorCode }),
  };
}

function callUsage({ currency }: SavedTrace, tasks: readonly SavedTask[]): TraceUsage {
  const isPriced = tasks.some(({ calls }) => calls.some(({ cost }) => cost !== undefined));
  const ofCall = new Map<SavedCall, UsageFields>();
  for (const task of tasks)
    for (const call of task.calls) {
      // Some writers store only the cost of a task. The last call of the task gets this cost.
      const cost =
        isPriced || call !== task.calls.at(-1)
          ? call.cost
          : task.metrics.object("costEstimate").optionalNumber("totalCost");
      const { provider, modelId, purpose, attempt, inputTokens, outputTokens } = call;
      ofCall.set(call, {
        taskId: task.taskId,
        agentRole: task.agentRole,
        ...{ provider, modelId, purpose, attempt, inputTokens, outputTokens },
        outcome: call.error === undefined && call.responseType !== "ERROR" ? "ok" : "failed",
        ...(cost !== undefined && { cost, ...(currency !== undefined && { currency }) }),
        ...callFacts(call),
      });
    }
  return { ofCall, others: new Map() };
}
