import type { ClaimEnd, KeptError, RunResult } from "../../../contracts/journal.js";
import type { EnsembleOutput } from "../../../contracts/output.js";
import type { HookRun } from "../../../contracts/run.js";
import type { SavedUsage, UsageRecord } from "../../../contracts/usage.js";
import { AgentEnsembleError, RunCancelledError } from "../../../contracts/errors.js";
import { sumCost } from "../../../contracts/metrics.js";
import { toJsonValue } from "../../../util/json/to-json-value.js";
import { messageOf } from "../../../util/errors.js";

/**
 * Maximum number of task outputs in the result of a run. The result is one text, which lists of
 * runs read.
 */
const MOST_OUTPUTS = 1_000;

/** The end of an execution, from `afterRun`. */
export interface ExecutionEnd {
  readonly run: HookRun;
  readonly output: EnsembleOutput | undefined;
  readonly error: Error | undefined;
}

/** Returns the end of an execution in the format of a journal. */
export function claimEndOf(
  { run, output, error }: ExecutionEnd,
  o: { readonly sealed: boolean; readonly saved: SavedUsage | undefined },
): ClaimEnd {
  const exitReason = output?.exitReason ?? "ERROR";
  const outputs = output?.taskOutputs ?? [];
  const omitted = Math.max(0, outputs.length - MOST_OUTPUTS);
  // The shape of the value stays the same.
  const shown = <T>(value: T): T => (o.sealed ? toJsonValue(value) : run.redactValue(value)) as T;
  const text = (value: string): string => (o.sealed ? value : run.redact(value));
  const roles = new Map<string, string>(); // the agent roles of many tasks
  const role = (name: string): string => {
    const known = roles.get(name) ?? text(name);
    roles.set(name, known);
    return known;
  };
  const result: RunResult = {
    runId: run.id,
    exitReason,
    raw: text(output?.raw ?? ""),
    taskOutputs: outputs.slice(omitted).map(({ taskId, agentRole, raw, parsed }) => ({
      taskId: text(taskId),
      agentRole: role(agentRole),
      raw: text(raw),
      ...(parsed !== undefined && parsed !== raw && { parsed: shown(parsed) }),
    })),
    ...(omitted > 0 && { omittedTaskOutputs: omitted }),
    metrics: keptMetrics(output),
    ...(o.saved !== undefined && { saved: o.saved }),
    ...(error !== undefined && { error: shown(keptError(error)) }),
  };
  if (error === undefined) return { status: "completed", result };
  if (exitReason === "SUSPENDED")
    return { status: "waiting", waitsFor: shown(messageOf(error)), result };
  if (exitReason !== "CANCELLED") return { status: "failed", result };
  const isShutdown = RunCancelledError.find(error)?.isShutdown === true;
  return { status: isShutdown ? "interrupted" : "cancelled", result };
}

/** Returns the original usage of kept calls. */
export function savedBy(usage: readonly UsageRecord[], toolCalls: number): SavedUsage {
  const cost = sumCost(usage);
  const tokens = usage.reduce(
    (sum, { inputTokens, outputTokens }) =>
      sum + Math.max(0, inputTokens) + Math.max(0, outputTokens),
    0,
  );
  return {
    llmCalls: usage.reduce((sum, { calls = 1 }) => sum + calls, 0),
    toolCalls,
    tokens,
    ...(cost !== undefined && { cost: cost.totalCost, currency: cost.currency }),
  };
}

function keptMetrics(output: EnsembleOutput | undefined): RunResult["metrics"] {
  const m = output?.metrics;
  const cost = m?.costEstimate;
  return {
    inputTokens: m?.inputTokens ?? 0,
    outputTokens: m?.outputTokens ?? 0,
    totalTokens: m?.totalTokens ?? 0,
    llmCallCount: m?.llmCallCount ?? 0,
    toolCallCount: m?.toolCallCount ?? 0,
    ...(cost !== undefined && { cost: cost.totalCost, currency: cost.currency }),
  };
}

function keptError(error: Error): KeptError {
  if (!AgentEnsembleError.isInstance(error))
    return { code: "AE_PLUGIN", message: messageOf(error) };
  const { code, message, hint } = error;
  return { code, message, ...(hint !== undefined && { hint }) };
}
