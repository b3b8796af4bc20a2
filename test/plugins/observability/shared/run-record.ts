import { Agent } from "../../../../src/contracts/agent.js";
import { ModelCallError, TaskExecutionError } from "../../../../src/contracts/errors.js";
import type {
  ExecutionMetrics,
  TaskMetrics,
  TaskOutput,
} from "../../../../src/contracts/output.js";
import { NO_METRICS } from "../../../../src/contracts/output.js";
import { Task } from "../../../../src/contracts/task.js";
import { tool } from "../../../../src/contracts/tool.js";
import type {
  DelegationRecord,
  ModelCallRecord,
  RunRecord,
  TaskRecord,
  ToolCallRecord,
} from "../../../../src/contracts/trace.js";
import { createRedactor } from "../../../../src/util/redaction/redactor.js";
import type { UsageRecord } from "../../../../src/contracts/usage.js";

/** Numbers of a task, with some changed. */
function metrics(changes: Partial<TaskMetrics> = {}): TaskMetrics {
  return { ...NO_METRICS, ...changes };
}

/** A usage record, with some fields changed. */
function usage(changes: Partial<UsageRecord> = {}): UsageRecord {
  return {
    runId: "run-1",
    taskId: "research",
    agentRole: "Researcher",
    purpose: "task",
    provider: "scripted",
    modelId: "m-1",
    inputTokens: 10,
    outputTokens: 5,
    cachedInputTokens: -1,
    reasoningTokens: -1,
    latencyMs: 1500,
    attempt: 1,
    outcome: "ok",
    tags: {},
    ...changes,
  };
}

/** A finished output. */
export function output(raw: string, parsed: unknown = raw): TaskOutput {
  const value = {
    taskId: "research",
    raw,
    parsed,
    taskDescription: "Find it",
    agentRole: "Researcher",
    completedAt: new Date(0),
    durationMs: 1,
    toolCallCount: 0,
    metrics: metrics(),
  };
  return { ...value, getParsedOutput: () => parsed as never };
}

const search = tool({ name: "search", description: "Searches", execute: () => "found" });

const researcher = new Agent({
  role: "Researcher",
  goal: "Find things",
  background: "Long years",
  tools: [search, { resolve: () => [] }],
});
const writer = new Agent({ role: "Writer", goal: "Write" });

const toolCall: ToolCallRecord = {
  toolName: "search",
  arguments: '{"input":"x"}',
  result: "found",
  structured: undefined,
  startedMs: 2500,
  endedMs: 2750,
  outcome: "SUCCESS",
};

/** A failed attempt, a call that requests a tool, and the answer. */
const calls: readonly ModelCallRecord[] = [
  {
    usage: usage({ outcome: "failed", latencyMs: 100, inputTokens: -1, outputTokens: -1 }),
    iteration: 0,
    startedMs: 1100,
    response: undefined,
    error: new ModelCallError("overloaded", { provider: "scripted", modelId: "m-1" }),
    tools: [],
  },
  {
    usage: usage({ attempt: 2, latencyMs: 1000 }),
    iteration: 0,
    startedMs: 1300,
    response: {
      message: {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "1", name: "search", arguments: '{"input":"x"}' }],
      },
      finishReason: "tool_calls",
    },
    error: undefined,
    tools: [toolCall],
  },
  {
    usage: usage({ latencyMs: 250.5 }),
    iteration: 1,
    startedMs: 3000,
    response: { message: { role: "assistant", content: "The answer" }, finishReason: "stop" },
    error: undefined,
    tools: [],
  },
];

/** A task's record, with some fields changed. */
export function taskRecord(changes: Partial<TaskRecord> = {}): TaskRecord {
  return {
    taskId: "research",
    parentTaskId: undefined,
    attempt: 1,
    task: new Task({ description: "Find it", expectedOutput: "A fact" }),
    agent: researcher,
    agentRole: "Researcher",
    startedMs: 1000,
    endedMs: 3500,
    outcome: "ok",
    messages: [
      { role: "system", content: "You are Researcher." },
      {
        role: "user",
        content: [
          { type: "text", text: "Find" },
          { type: "image", data: "AAAA", mediaType: "image/png" },
          { type: "text", text: "it" },
        ],
      },
      { role: "assistant", content: "later" },
    ],
    calls,
    tools: [],
    delegations: [],
    output: output("The answer"),
    error: undefined,
    metrics: metrics({
      inputTokens: 20,
      outputTokens: 10,
      totalTokens: 30,
      llmCallCount: 3,
      toolCallCount: 1,
      llmLatencyMs: 1350.5,
      toolExecutionMs: 250,
    }),
    ...changes,
  };
}

const workerRecord = taskRecord({
  taskId: "research.1",
  parentTaskId: "research",
  agent: writer,
  agentRole: "Writer",
  calls: [],
  output: output("Text"),
});

const delegation: DelegationRecord = {
  delegatorRole: "Researcher",
  workerRole: "Writer",
  taskDescription: "Write it",
  depth: 1,
  priority: "HIGH",
  startedMs: 2800,
  endedMs: 2900,
  result: "Text",
  succeeded: true,
  worker: workerRecord,
};

const failedRecord = taskRecord({
  taskId: "broken",
  agent: undefined,
  outcome: "failed",
  calls: [],
  messages: undefined,
  output: undefined,
  error: new TaskExecutionError("it broke", {
    taskDescription: "Find it",
    agentRole: "Researcher",
    completedTaskOutputs: [],
  }),
});

const totals: ExecutionMetrics = {
  ...metrics({
    inputTokens: 40,
    outputTokens: 20,
    totalTokens: 60,
    llmCallCount: 3,
    toolCallCount: 1,
    delegationCount: 1,
    refusedDelegationCount: 0,
    llmLatencyMs: 61_000,
  }),
  unknownUsageCalls: 1,
  ledger: [usage()],
  tools: [{ toolName: "search", calls: 1, failures: 0, durationMs: 250 }],
  tasks: [
    { taskId: "research", agentRole: "Researcher", metrics: metrics({ llmLatencyMs: 1500 }) },
  ],
};

/** A run: one task that delegates, its worker, another child task, and one that fails. */
export function runRecord(changes: Partial<RunRecord> = {}): RunRecord {
  return {
    run: { id: "run-1", inputs: { topic: "bees" }, find: () => undefined, tags: { team: "blue" } },
    workflow: "SEQUENTIAL",
    reports: [],
    reviews: [],
    startedAt: new Date("2026-01-02T03:04:05.000Z"),
    startedMs: 1000,
    endedMs: 62_500,
    exitReason: "ERROR",
    error: new TaskExecutionError("the run broke", {
      taskDescription: "Find it",
      agentRole: "Researcher",
      completedTaskOutputs: [],
    }),
    tasks: [
      taskRecord({ delegations: [delegation] }),
      workerRecord,
      taskRecord({ taskId: "research.2", parentTaskId: "research" }),
      failedRecord,
    ],
    metrics: totals,
    warnings: [],
    capture: {
      name: "OFF",
      capturesMessages: false,
      capturesMemory: false,
      parsesToolInput: false,
    },
    redactor: createRedactor({ environment: {} }),
    ...changes,
  };
}
