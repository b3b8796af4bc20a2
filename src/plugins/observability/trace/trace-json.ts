import type { ExecutionMetrics, TaskMetrics } from "../../../contracts/output.js";
import type {
  DelegationTrace,
  ErrorTrace,
  ExecutionTrace,
  LlmInteraction,
  ReviewTrace,
  TaskTrace,
  ToolCallTrace,
} from "../../../contracts/trace.js";
import { jsonPieces, LazyList } from "../shared/json-pieces.js";
import { isoDuration } from "./iso-duration.js";

type Json = Readonly<Record<string, unknown>>;

// Absent values are written as null, because the viewer of the format expects the fields.

function toolCall({ durationMs, structuredOutput, parsedInput, ...call }: ToolCallTrace): Json {
  return {
    ...call,
    duration: isoDuration(durationMs),
    structuredOutput: structuredOutput ?? null,
    parsedInput: parsedInput ?? null,
    metadata: {},
  };
}

function llmInteraction({
  latencyMs,
  toolCalls,
  messages,
  finishReason,
  error,
  errorCode,
  cost,
  ...call
}: LlmInteraction): Json {
  return {
    ...call,
    latency: isoDuration(latencyMs),
    cost: cost ?? null,
    finishReason: finishReason ?? null,
    error: error ?? null,
    errorCode: errorCode ?? null,
    toolCalls: toolCalls.map(toolCall),
    messages: messages.map((message) => ({ ...message, toolName: message.toolName ?? null })),
  };
}

function taskMetrics({
  llmLatencyMs,
  toolExecutionMs,
  memoryRetrievalMs,
  promptBuildMs,
  costEstimate,
  ...counts
}: TaskMetrics): Json {
  return {
    ...counts,
    llmLatency: isoDuration(llmLatencyMs),
    toolExecutionTime: isoDuration(toolExecutionMs),
    memoryRetrievalTime: isoDuration(memoryRetrievalMs),
    promptBuildTime: isoDuration(promptBuildMs),
    costEstimate: costEstimate ?? null,
  };
}

function delegation({ durationMs, workerTrace, ...rest }: DelegationTrace): Json {
  return {
    ...rest,
    duration: isoDuration(durationMs),
    workerTaskId: rest.workerTaskId ?? null,
    workerTrace: workerTrace === undefined ? null : taskTrace(workerTrace),
  };
}

function taskTrace({ durationMs, ...trace }: TaskTrace): Json {
  return {
    ...trace,
    parentTaskId: trace.parentTaskId ?? null,
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

function runMetricsJson({ tasks, tools, ledger, ...metrics }: ExecutionMetrics): Json {
  return {
    totalInputTokens: metrics.inputTokens,
    totalOutputTokens: metrics.outputTokens,
    totalLlmCallCount: metrics.llmCallCount,
    totalToolCalls: metrics.toolCallCount,
    totalDelegations: metrics.delegationCount,
    totalCostEstimate: metrics.costEstimate ?? null,
    totalLlmLatency: isoDuration(metrics.llmLatencyMs),
    totalToolExecutionTime: isoDuration(metrics.toolExecutionMs),
    totalMemoryRetrievalTime: isoDuration(metrics.memoryRetrievalMs),
    totalPromptBuildTime: isoDuration(metrics.promptBuildMs),
    ...taskMetrics(metrics),
    ...(metrics.saved !== undefined && { saved: metrics.saved }),
    tools: tools.map(({ durationMs, ...use }) => ({ ...use, duration: isoDuration(durationMs) })),
    tasks: tasks.map((task) => ({ ...task, metrics: taskMetrics(task.metrics) })),
    // The metadata have the tags of the run. Its id is above.
    ledger: ledger.map(({ runId: _runId, tags: _tags, latencyMs, ...usage }) => ({
      ...usage,
      latency: isoDuration(latencyMs),
    })),
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

function reviewTrace({ durationMs, ...review }: ReviewTrace): Json {
  return {
    ...review,
    duration: isoDuration(durationMs),
    toolName: review.toolName ?? null,
    by: review.by ?? null,
    comment: review.comment ?? null,
  };
}

/** Returns the document without the tasks. */
function head(trace: ExecutionTrace): Json {
  return {
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
    metrics: runMetricsJson(trace.metrics),
    totalCostEstimate: trace.totalCostEstimate ?? null,
    errors: trace.errors.map(errorTrace),
    mapReduceLevels: (trace.mapReduceLevels ?? []).map(({ durationMs, ...level }) => ({
      ...level,
      duration: isoDuration(durationMs),
    })),
    loopTraces: trace.loopTraces.map((loop) => ({
      ...loop,
      terminationReason: loop.terminationReason ?? null,
    })),
    graphTrace:
      trace.graphTrace === undefined
        ? null
        : { ...trace.graphTrace, terminationReason: trace.graphTrace.terminationReason ?? null },
    phases: trace.phases,
    ...(trace.reviews !== undefined && { reviews: trace.reviews.map(reviewTrace) }),
    traceId: trace.traceId ?? null,
    ...(trace.values !== undefined && { values: trace.values }),
    metadata: trace.metadata,
  };
}

/**
 * Converts a trace to JSON data with the names of schema 1.3 and additional names. All values in a
 * trace are already JSON data.
 */
export function traceJson(trace: ExecutionTrace): unknown {
  return { ...head(trace), taskTraces: trace.taskTraces.map(taskTrace) };
}

/**
 * Yields the same document in pieces, task by task. Other work can continue while a large document
 * is written. `tasks` are the tasks of the trace, created one by one.
 */
export function traceJsonPieces(
  trace: ExecutionTrace,
  tasks: Iterable<TaskTrace>,
): Iterable<string> {
  // level 3 has the lists in `metrics`
  return jsonPieces({ ...head(trace), taskTraces: new LazyList(taskTracesJson(tasks)) }, 3);
}

function* taskTracesJson(tasks: Iterable<TaskTrace>): Generator<Json> {
  for (const task of tasks) yield taskTrace(task);
}
