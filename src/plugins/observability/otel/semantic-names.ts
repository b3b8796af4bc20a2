/**
 * The version of the conventions for generative AI. It determines the names of spans and metrics.
 */
export type SemconvVersion = "1.36" | "1.37" | "latest";

export const SEMCONV_VERSIONS: readonly SemconvVersion[] = Object.freeze([
  "1.36",
  "1.37",
  "latest",
]);

/**
 * Names that are equal in all versions. `agentensemble.*` are attributes without a name in the
 * conventions.
 */
export const ATTRIBUTES = Object.freeze({
  operation: "gen_ai.operation.name",
  workflowName: "gen_ai.workflow.name",
  agentName: "gen_ai.agent.name",
  requestModel: "gen_ai.request.model",
  requestMaxTokens: "gen_ai.request.max_tokens",
  requestTemperature: "gen_ai.request.temperature",
  requestStopSequences: "gen_ai.request.stop_sequences",
  requestStream: "gen_ai.request.stream",
  outputType: "gen_ai.output.type",
  responseId: "gen_ai.response.id",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  timeToFirstChunk: "gen_ai.response.time_to_first_chunk",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cachedTokens: "gen_ai.usage.cache_read.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  tokenType: "gen_ai.token.type",
  toolName: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  toolCallId: "gen_ai.tool.call.id",
  memoryStore: "gen_ai.memory.store.id",
  memoryRecords: "gen_ai.memory.record.count",
  errorType: "error.type",
  systemInstructions: "gen_ai.system_instructions",
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  toolDefinitions: "gen_ai.tool.definitions",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  runId: "agentensemble.run.id",
  runTag: "agentensemble.run.tag.",
  workflow: "agentensemble.workflow",
  totalTasks: "agentensemble.total_tasks",
  totalTokens: "agentensemble.total_tokens",
  exitReason: "agentensemble.exit_reason",
  taskId: "agentensemble.task.id",
  parentTaskId: "agentensemble.task.parent_id",
  taskIndex: "agentensemble.task.index",
  taskDescription: "agentensemble.task.description",
  attempt: "agentensemble.attempt",
  iteration: "agentensemble.iteration",
  outcome: "agentensemble.outcome",
  purpose: "agentensemble.purpose",
  memoryKind: "agentensemble.memory.kind",
} as const);

/** Values of `gen_ai.operation.name`. They are also the first words of span names. */
export const OPERATIONS = Object.freeze({
  workflow: "invoke_workflow",
  agent: "invoke_agent",
  /** Not in the conventions: a task with a handler. */
  task: "run_task",
  chat: "chat",
  tool: "execute_tool",
  memorySearch: "search_memory",
  memoryCreate: "create_memory",
} as const);

/** Names of events on spans. */
export const SPAN_EVENTS = Object.freeze({
  attempt: "agentensemble.attempt",
  notCalled: "agentensemble.llm_call.not_made",
} as const);

/** Names of metrics that are equal in all versions. */
export const METRICS = Object.freeze({
  workflowDuration: "gen_ai.workflow.duration",
  agentDuration: "gen_ai.invoke_agent.duration",
  toolDuration: "gen_ai.execute_tool.duration",
} as const);

/** Names that differ between versions. */
export interface VersionedNames {
  readonly provider: string;
  readonly operationDuration: string;
  readonly timeToFirstChunk: string;
  /**
   * One histogram with the attribute `gen_ai.token.type`. Absent if `inputTokens` and
   * `outputTokens` are separate metrics.
   */
  readonly tokenUsage?: string;
  readonly inputTokens?: string;
  readonly outputTokens?: string;
}

const OF_1_37: VersionedNames = Object.freeze({
  provider: "gen_ai.provider.name",
  operationDuration: "gen_ai.client.operation.duration",
  timeToFirstChunk: "gen_ai.client.operation.time_to_first_chunk",
  tokenUsage: "gen_ai.client.token.usage",
});

const NAMES: Readonly<Record<SemconvVersion, VersionedNames>> = Object.freeze({
  "1.36": Object.freeze({ ...OF_1_37, provider: "gen_ai.system" }),
  "1.37": OF_1_37,
  latest: Object.freeze({
    provider: "gen_ai.provider.name",
    operationDuration: "gen_ai.client.inference.duration",
    timeToFirstChunk: "gen_ai.client.inference.time_to_first_chunk",
    inputTokens: "gen_ai.client.inference.usage.input_tokens",
    outputTokens: "gen_ai.client.inference.usage.output_tokens",
  }),
});

export function namesOfVersion(version: SemconvVersion): VersionedNames {
  return NAMES[version];
}

/** Returns the requested version, from the options or from the variable of OpenTelemetry. */
export function chosenVersion(
  option: SemconvVersion | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): SemconvVersion {
  const optIns = (environment["OTEL_SEMCONV_STABILITY_OPT_IN"] ?? "")
    .split(",")
    .map((value) => value.trim());
  return option ?? (optIns.includes("gen_ai_latest_experimental") ? "latest" : "1.37");
}
