import type { ChatResponse } from "./chat-model.js";
import type { ExecutionMetrics, TaskMetrics, ToolUse } from "./output.js";
import type { TaskRecord, ToolCallRecord } from "./trace.js";
import type { CostEstimate } from "./cost.js";
import type { MemoryOperationCounts } from "./memory.js";
import type { UsageRecord } from "./usage.js";
import { NO_MEMORY_OPERATIONS } from "./output.js";
import { roundedCost } from "./cost.js";

/** Totals of usage records. Counts calls without reported tokens separately. */
export interface UsageSums {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly llmLatencyMs: number;
  readonly unknownUsageCalls: number;
  readonly llmCallCount: number;
}

/** Adds two sets of counts. */
export function addOperations(
  sum: MemoryOperationCounts,
  more: Partial<MemoryOperationCounts>,
): MemoryOperationCounts {
  // Covers all names: see NO_MEMORY_OPERATIONS.
  const names = Object.keys(sum) as (keyof MemoryOperationCounts)[];
  return Object.fromEntries(
    names.map((name) => [name, sum[name] + (more[name] ?? 0)]),
  ) as unknown as MemoryOperationCounts; // the same names
}

/**
 * Returns the cost of the calls with a known price. Returns `undefined` if there are no such calls,
 * or if they have several currencies.
 */
export function sumCost(records: readonly UsageRecord[]): CostEstimate | undefined {
  let sole: string | undefined;
  let [inputCost, outputCost, totalCost, unpricedCalls] = [0, 0, 0, 0];
  for (const record of records) {
    if (record.cost === undefined) {
      unpricedCalls++;
      continue;
    }
    const { currency = "USD" } = record;
    sole ??= currency;
    if (currency !== sole) return undefined;
    inputCost += record.inputCost ?? 0;
    outputCost += record.outputCost ?? 0;
    totalCost += record.cost;
  }
  if (sole === undefined) return undefined;
  return {
    inputCost: roundedCost(inputCost),
    outputCost: roundedCost(outputCost),
    totalCost: roundedCost(totalCost),
    currency: sole,
    ...(unpricedCalls > 0 && { unpricedCalls }),
  };
}

/** Returns the cost of calls, and the recorded cost of replayed calls. */
function costsOf(
  records: readonly UsageRecord[],
): Pick<TaskMetrics, "costEstimate" | "recordedCost"> {
  const isReplay = records.some(({ recorded }) => recorded === true);
  const made = isReplay ? records.filter(({ recorded }) => recorded !== true) : records;
  const costEstimate = sumCost(made);
  const recordedCost = isReplay
    ? sumCost(records.filter(({ recorded }) => recorded === true))
    : undefined;
  return {
    ...(costEstimate !== undefined && { costEstimate }),
    ...(recordedCost !== undefined && { recordedCost }),
  };
}

function sumUsage(records: readonly UsageRecord[]): UsageSums {
  let inputTokens = 0;
  let outputTokens = 0;
  let llmLatencyMs = 0;
  let unknownUsageCalls = 0;
  let llmCallCount = 0;
  for (const record of records) {
    llmCallCount += record.calls ?? 1;
    if (record.inputTokens < 0 || record.outputTokens < 0) unknownUsageCalls++;
    inputTokens += Math.max(0, record.inputTokens);
    outputTokens += Math.max(0, record.outputTokens);
    llmLatencyMs += record.latencyMs;
  }
  return { inputTokens, outputTokens, llmLatencyMs, unknownUsageCalls, llmCallCount };
}

function count(value: number | undefined): number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : -1;
}

/**
 * Returns the tokens of a response for its record. Returns -1 if the vendor reported none. For an
 * answered or a refused call, unreported tokens count as 0.
 */
export function tokensOf(
  response: Pick<ChatResponse, "usage"> | undefined,
  free: boolean,
): Pick<UsageRecord, "inputTokens" | "outputTokens" | "cachedInputTokens" | "reasoningTokens"> {
  const usage = response?.usage;
  if (usage === undefined && free)
    return { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
  return {
    inputTokens: count(usage?.inputTokens),
    outputTokens: count(usage?.outputTokens),
    cachedInputTokens: count(usage?.cachedInputTokens),
    reasoningTokens: count(usage?.reasoningTokens),
  };
}

/** Written with loops, because metrics are computed for every task. */
function toolsOf(records: readonly TaskRecord[]): readonly ToolCallRecord[] {
  const made: ToolCallRecord[] = [];
  for (const { tools, calls } of records) {
    for (const tool of tools) if (isMade(tool)) made.push(tool);
    for (const call of calls) for (const tool of call.tools) if (isMade(tool)) made.push(tool);
  }
  return made;
}

/** Returns whether a call was made. A call beyond the iteration limit was not made. */
function isMade({ outcome }: ToolCallRecord): boolean {
  return outcome !== "SKIPPED_MAX_ITERATIONS";
}

/** Returns the number of an attempt's tool calls. */
export function toolCallCountOf({ tools, calls, restoredToolCalls = 0 }: TaskRecord): number {
  let count = restoredToolCalls;
  for (const tool of tools) if (isMade(tool)) count++;
  for (const call of calls) for (const tool of call.tools) if (isMade(tool)) count++;
  return count;
}

/** Returns the used tools, each once, in the order of their first calls. */
function toolUses(records: readonly TaskRecord[]): readonly ToolUse[] {
  const uses = new Map<
    string,
    { toolName: string; calls: number; failures: number; durationMs: number }
  >();
  for (const { toolName, outcome, startedMs, endedMs } of toolsOf(records)) {
    let use = uses.get(toolName);
    if (use === undefined)
      uses.set(toolName, (use = { toolName, calls: 0, failures: 0, durationMs: 0 }));
    use.calls++;
    if (outcome !== "SUCCESS") use.failures++;
    use.durationMs += endedMs - startedMs;
  }
  return Object.freeze([...uses.values()]);
}

/**
 * Returns the usage of the given task attempts. The token counts are unknown if one call has no
 * reported tokens.
 */
export function metricsOf(records: readonly TaskRecord[]): TaskMetrics {
  const tools = toolsOf(records);
  const used: UsageRecord[] = [];
  let [restoredToolCalls, delegations, refused] = [0, 0, 0];
  let [memoryRetrievalMs, promptBuildMs, toolExecutionMs] = [0, 0, 0];
  let memoryOperations = NO_MEMORY_OPERATIONS;
  for (const record of records) {
    for (const call of record.calls) used.push(call.usage);
    restoredToolCalls += record.restoredToolCalls ?? 0;
    delegations += record.delegations.length;
    for (const delegation of record.delegations) if (delegation.refused === true) refused++;
    if (record.measures === undefined) continue;
    memoryRetrievalMs += record.measures.memoryRetrievalMs;
    promptBuildMs += record.measures.promptBuildMs;
    if (record.measures.memoryOperations !== NO_MEMORY_OPERATIONS)
      memoryOperations = addOperations(memoryOperations, record.measures.memoryOperations);
  }
  for (const tool of tools) toolExecutionMs += tool.endedMs - tool.startedMs;
  const usage = sumUsage(used);
  const known = usage.unknownUsageCalls === 0;
  return Object.freeze({
    inputTokens: known ? usage.inputTokens : -1,
    outputTokens: known ? usage.outputTokens : -1,
    totalTokens: known ? usage.inputTokens + usage.outputTokens : -1,
    llmCallCount: usage.llmCallCount,
    toolCallCount: restoredToolCalls + tools.length,
    llmLatencyMs: usage.llmLatencyMs,
    toolExecutionMs,
    delegationCount: delegations - refused,
    refusedDelegationCount: refused,
    memoryRetrievalMs,
    promptBuildMs,
    memoryOperations,
    ...costsOf(used),
  });
}

/** Returns the totals of a run, from its ledger and the records of its tasks. */
export function executionMetrics(
  ledger: readonly UsageRecord[],
  records: readonly TaskRecord[],
  { contextFormat, saved }: Pick<ExecutionMetrics, "contextFormat" | "saved"> = {},
): ExecutionMetrics {
  const usage = sumUsage(ledger);
  const byTask = new Map<string, TaskRecord[]>();
  for (const record of records) {
    const attempts = byTask.get(record.taskId);
    if (attempts === undefined) byTask.set(record.taskId, [record]);
    else attempts.push(record);
  }
  const tasks = [...byTask].map(([taskId, attempts]) => ({
    taskId,
    agentRole: attempts.at(-1)?.agentRole ?? "",
    metrics: metricsOf(attempts),
  }));
  const [only] = tasks;
  const all = tasks.length === 1 && only !== undefined ? only.metrics : metricsOf(records);
  const { costEstimate: _cost, recordedCost: _recorded, ...ofTasks } = all;
  return Object.freeze({
    tools: toolUses(records),
    ...ofTasks,
    ...costsOf(ledger),
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    totalTokens: usage.inputTokens + usage.outputTokens,
    llmCallCount: usage.llmCallCount,
    llmLatencyMs: usage.llmLatencyMs,
    unknownUsageCalls: usage.unknownUsageCalls,
    ...(contextFormat !== undefined && { contextFormat }),
    ...(saved !== undefined && { saved }),
    ledger: Object.freeze([...ledger]),
    tasks: Object.freeze(tasks),
  });
}
