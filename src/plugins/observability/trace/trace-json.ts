import type { ExecutionMetrics, TaskMetrics } from "../../../contracts/output.js";
import type { DelegationTrace, ErrorTrace, ExecutionTrace, LlmInteraction, TaskTrace, ToolCallTrace } from "../../../contracts/trace.js";
import type { HistoryTraces } from "./history-traces.js";
import { isoDuration } from "./iso-duration.js";
import { toJsonValue } from "./json-value.js";

type Json = Readonly<Record<string, unknown>>;

// Absent values are written as null, because the viewer of the format expects the names to be there.

function toolCall({ durationMs, structuredOutput, ...call }: ToolCallTrace): Json {
  return { ...call, duration: isoDuration(durationMs), structuredOutput: structuredOutput ?? null, parsedInput: null, metadata: {} };
}

function llmInteraction({ latencyMs, toolCalls, finishReason, error, ...call }: LlmInteraction): Json {
  return {
    ...call,
    latency: isoDuration(latencyMs),
    finishReason: finishReason ?? null,
    error: error ?? null,
    toolCalls: toolCalls.map(toolCall),
    messages: [],
  };
}

function taskMetrics({ llmLatencyMs, toolExecutionMs, ...counts }: TaskMetrics): Json {
  return { ...counts, llmLatency: isoDuration(llmLatencyMs), toolExecutionTime: isoDuration(toolExecutionMs), costEstimate: null };
}

function delegation({ durationMs, workerTrace, ...rest }: DelegationTrace): Json {
  return { ...rest, duration: isoDuration(durationMs), workerTrace: workerTrace === undefined ? null : taskTrace(workerTrace) };
}

function taskTrace({ durationMs, ...trace }: TaskTrace): Json {
  return {
    ...trace,
    duration: isoDuration(durationMs),
    prompts: trace.prompts ?? null,
    llmInteractions: trace.llmInteractions.map(llmInteraction),
    toolCalls: trace.toolCalls.map(toolCall),
    delegations: trace.delegations.map(delegation),
    finalOutput: trace.finalOutput ?? null,
    parsedOutput: trace.parsedOutput ?? null,
    metrics: taskMetrics(trace.metrics),
    metadata: {},
  };
}

function executionMetrics({ tasks, ledger, ...metrics }: ExecutionMetrics): Json {
  return {
    totalInputTokens: metrics.inputTokens,
    totalOutputTokens: metrics.outputTokens,
    totalLlmCallCount: metrics.llmCallCount,
    totalToolCalls: metrics.toolCallCount,
    totalDelegations: metrics.delegationCount,
    totalCostEstimate: null,
    ...taskMetrics(metrics),
    tasks: tasks.map((task) => ({ ...task, metrics: taskMetrics(task.metrics) })),
    ledger,
  };
}

function errorTrace(error: ErrorTrace): Json {
  return {
    ...error,
    taskId: error.taskId ?? null,
    agentRole: error.agentRole ?? null,
    taskDescription: error.taskDescription ?? null,
    code: error.code ?? null,
    stackTrace: error.stackTrace ?? null,
  };
}

/** A trace as plain JSON data: the names of schema 1.1, with ours beside them. Never throws, whatever the inputs and outputs hold. */
export function traceJson(trace: ExecutionTrace, { loopTraces, graphTrace }: HistoryTraces): unknown {
  return toJsonValue({
    schemaVersion: trace.schemaVersion,
    captureMode: trace.captureMode,
    ensembleId: trace.ensembleId,
    workflow: trace.workflow,
    startedAt: trace.startedAt,
    completedAt: trace.completedAt,
    totalDuration: isoDuration(trace.totalDurationMs),
    exitReason: trace.exitReason,
    inputs: trace.inputs,
    agents: trace.agents.map((agent) => ({ ...agent, background: agent.background ?? null })),
    taskTraces: trace.taskTraces.map(taskTrace),
    metrics: executionMetrics(trace.metrics),
    totalCostEstimate: null,
    errors: trace.errors.map(errorTrace),
    mapReduceLevels: (trace.mapReduceLevels ?? []).map(({ durationMs, ...level }) => ({ ...level, duration: isoDuration(durationMs) })),
    loopTraces: loopTraces.map((loop) => ({ ...loop, terminationReason: loop.terminationReason ?? null, memoryMode: "ACCUMULATE" })),
    graphTrace: graphTrace === undefined ? null : { ...graphTrace, terminationReason: graphTrace.terminationReason ?? null },
    traceId: null,
    metadata: trace.metadata,
  });
}
