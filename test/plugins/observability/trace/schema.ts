/**
 * The type of a field. `?` before a kind: or null. `[]` after a kind: a list. A name of {@link
 * SCHEMA}: an object of that shape.
 */
type Kind = string;
type Shape = Readonly<Record<string, Kind>>;

const usage = { inputTokens: "count", outputTokens: "count" };
const metrics = {
  ...usage,
  totalTokens: "count",
  llmLatency: "duration",
  toolExecutionTime: "duration",
  memoryRetrievalTime: "duration",
  promptBuildTime: "duration",
  llmCallCount: "count",
  toolCallCount: "count",
  delegationCount: "count",
  refusedDelegationCount: "count",
  memoryOperations: "MemoryOperations",
  costEstimate: "?Cost",
};

/**
 * The `.trace.json` format, schema 1.3, as the viewer of the Java version reads it. `OURS` contains
 * the additions of this version. A field outside of both tables, a missing field, or another kind
 * is a change of the format.
 */
export const SCHEMA: Readonly<Record<string, Shape>> = {
  Trace: {
    schemaVersion: "text",
    captureMode: "text",
    ensembleId: "text",
    workflow: "text",
    startedAt: "instant",
    completedAt: "instant",
    totalDuration: "duration",
    inputs: "fields",
    agents: "Agent[]",
    taskTraces: "Task[]",
    metrics: "RunMetrics",
    totalCostEstimate: "?Cost",
    errors: "Error[]",
    mapReduceLevels: "Level[]",
    loopTraces: "Loop[]",
    graphTrace: "?Graph",
    traceId: "?text",
    metadata: "fields",
  },
  Agent: {
    role: "text",
    goal: "text",
    background: "?text",
    toolNames: "text[]",
    allowDelegation: "flag",
  },
  Task: {
    taskDescription: "text",
    expectedOutput: "text",
    agentRole: "text",
    startedAt: "instant",
    completedAt: "instant",
    duration: "duration",
    prompts: "?Prompts",
    llmInteractions: "Call[]",
    delegations: "Delegation[]",
    finalOutput: "?text",
    parsedOutput: "any",
    metrics: "Metrics",
    metadata: "fields",
  },
  Prompts: { systemPrompt: "text", userPrompt: "text" },
  Call: {
    iterationIndex: "count",
    startedAt: "instant",
    completedAt: "instant",
    latency: "duration",
    ...usage,
    responseType: "text",
    responseText: "text",
    toolCalls: "ToolCall[]",
    messages: "Message[]",
  },
  ToolCall: {
    toolName: "text",
    arguments: "text",
    result: "text",
    structuredOutput: "any",
    startedAt: "instant",
    completedAt: "instant",
    duration: "duration",
    outcome: "text",
    parsedInput: "?fields",
    metadata: "fields",
  },
  Message: { role: "text", content: "text", toolCalls: "Request[]", toolName: "?text" },
  Request: { name: "text", arguments: "text" },
  Delegation: {
    delegatorRole: "text",
    workerRole: "text",
    taskDescription: "text",
    startedAt: "instant",
    completedAt: "instant",
    duration: "duration",
    depth: "count",
    result: "text",
    succeeded: "flag",
    workerTrace: "?Task",
  },
  Metrics: metrics,
  RunMetrics: {
    totalInputTokens: "count",
    totalOutputTokens: "count",
    totalTokens: "count",
    totalLlmCallCount: "count",
    totalToolCalls: "count",
    totalDelegations: "count",
    totalCostEstimate: "?Cost",
    totalLlmLatency: "duration",
    totalToolExecutionTime: "duration",
    totalMemoryRetrievalTime: "duration",
    totalPromptBuildTime: "duration",
  },
  MemoryOperations: {
    shortTermEntriesWritten: "count",
    longTermStores: "count",
    longTermRetrievals: "count",
    entityLookups: "count",
  },
  Cost: { inputCost: "number", outputCost: "number", totalCost: "number", currency: "text" },
  Error: {
    agentRole: "?text",
    taskDescription: "?text",
    errorType: "text",
    message: "text",
    stackTrace: "?text",
    occurredAt: "instant",
  },
  Level: { level: "count", taskCount: "count", duration: "duration", workflow: "text" },
  Loop: {
    loopName: "text",
    iterationsRun: "count",
    maxIterations: "count",
    terminationReason: "?text",
    onMaxIterations: "text",
    outputMode: "text",
    memoryMode: "text",
    iterations: "text[][]",
  },
  Graph: {
    graphName: "text",
    startState: "text",
    terminationReason: "?text",
    stepsRun: "count",
    maxSteps: "count",
    steps: "Step[]",
  },
  Step: { stateName: "text", stepNumber: "count", nextState: "text" },
};

/** The additions of this version; a `!` before a kind: the field may be missing. */
export const OURS: Readonly<Record<string, Shape>> = {
  Trace: { exitReason: "text", phases: "Phase[]", reviews: "!Review[]" },
  Task: {
    taskId: "text",
    parentTaskId: "?text",
    attempt: "count",
    outcome: "text",
    dependsOn: "text[]",
    toolCalls: "ToolCall[]",
    memory: "Memory[]",
    nodeType: "!text",
    mapReduceLevel: "!count",
  },
  Call: {
    attempt: "count",
    purpose: "text",
    provider: "text",
    modelId: "text",
    cachedInputTokens: "count",
    reasoningTokens: "count",
    cost: "?number",
    finishReason: "?text",
    error: "?text",
    errorCode: "?text",
  },
  Delegation: { priority: "text", mode: "text", workerTaskId: "?text" },
  Loop: { taskIds: "text[][]" },
  RunMetrics: {
    ...metrics,
    unknownUsageCalls: "count",
    tools: "Tool[]",
    tasks: "TaskMetrics[]",
    ledger: "Usage[]",
  },
  MemoryOperations: { scopeReads: "count", scopeWrites: "count" },
  Cost: { unpricedCalls: "!count" },
  Memory: { operation: "text", kind: "text", scope: "!text", entries: "text[]" },
  Tool: { toolName: "text", calls: "count", failures: "count", duration: "duration" },
  TaskMetrics: { taskId: "text", agentRole: "text", metrics: "Metrics" },
  Usage: {
    taskId: "text",
    parentTaskId: "!text",
    agentRole: "text",
    purpose: "text",
    provider: "text",
    modelId: "text",
    ...usage,
    cachedInputTokens: "count",
    reasoningTokens: "count",
    cost: "!number",
    inputCost: "!number",
    outputCost: "!number",
    currency: "!text",
    latency: "duration",
    attempt: "count",
    outcome: "text",
  },
  Error: { taskId: "?text", code: "?text" },
  Review: {
    reviewId: "text",
    taskId: "text",
    agentRole: "text",
    timing: "text",
    description: "text",
    toolName: "?text",
    requestedAt: "instant",
    resolvedAt: "instant",
    duration: "duration",
    decision: "text",
    timedOut: "flag",
    by: "?text",
    comment: "?text",
  },
  Phase: { name: "text", after: "text[]", taskIds: "text[]" },
};

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const SIMPLE: Readonly<Record<string, (value: unknown) => boolean>> = {
  any: (value) => value !== undefined,
  text: (value) => typeof value === "string",
  flag: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number",
  count: (value) => Number.isInteger(value) && Number(value) >= -1,
  instant: (value) =>
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value),
  duration: (value) =>
    typeof value === "string" && /^PT(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?$/.test(value),
  fields: isFields,
};

/** The problems of a value, one line each. `seen` collects the names of the found shapes. */
export function problemsOf(
  value: unknown,
  kind: Kind,
  path: string,
  seen: Set<string>,
): readonly string[] {
  if (kind.endsWith("[]")) {
    if (!Array.isArray(value)) return [`${path} is no list`];
    return value.flatMap((item, index) =>
      problemsOf(item, kind.slice(0, -2), `${path}[${index}]`, seen),
    );
  }
  if (kind.startsWith("?"))
    return value === null ? [] : problemsOf(value, kind.slice(1), path, seen);
  const simple = SIMPLE[kind];
  if (simple !== undefined)
    return simple(value) ? [] : [`${path} is no ${kind}: ${JSON.stringify(value)}`];
  if (!isFields(value)) return [`${path} is no ${kind}: ${JSON.stringify(value)}`];
  seen.add(kind);
  const shape = { ...SCHEMA[kind], ...OURS[kind] };
  const unknown = Object.keys(value).flatMap((name) =>
    Object.hasOwn(shape, name) ? [] : [`${path}.${name} is not in the tables`],
  );
  const known = Object.entries(shape).flatMap(([name, field]) => {
    if (field.startsWith("!"))
      return Object.hasOwn(value, name)
        ? problemsOf(value[name], field.slice(1), `${path}.${name}`, seen)
        : [];
    return Object.hasOwn(value, name)
      ? problemsOf(value[name], field, `${path}.${name}`, seen)
      : [`${path}.${name} is missing`];
  });
  return [...unknown, ...known];
}
