import type { ChatMessage } from "../../../contracts/chat-model.js";
import type {
  AgentSummary,
  DelegationRecord,
  DelegationTrace,
  ErrorTrace,
  LlmInteraction,
  ModelCallRecord,
  RunRecord,
  TaskRecord,
  TaskTrace,
  ToolCallRecord,
  ToolCallTrace,
} from "../../../contracts/trace.js";
import type { Agent } from "../../../contracts/agent.js";
import { AgentEnsembleError, messageOf } from "../../../contracts/errors.js";
import { isTool } from "../../../contracts/tool.js";

/** From the run's monotonic clock to the time of day. */
export type WallClock = (monotonicMs: number) => Date;

interface Span {
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly durationMs: number;
}

function span(clock: WallClock, startedMs: number, endedMs: number): Span {
  const durationMs = Math.max(0, endedMs - startedMs);
  return { startedAt: clock(startedMs), completedAt: clock(startedMs + durationMs), durationMs };
}

function toolCallTrace(record: ToolCallRecord, clock: WallClock): ToolCallTrace {
  return {
    toolName: record.toolName,
    arguments: record.arguments,
    result: record.result,
    structuredOutput: record.structured,
    ...span(clock, record.startedMs, record.endedMs),
    outcome: record.outcome,
  };
}

/** In the order of their starts, which is that of the requests: parallel calls end in any order. */
function toolCallTraces(records: readonly ToolCallRecord[], clock: WallClock): readonly ToolCallTrace[] {
  const ordered = records.length > 1 ? [...records].sort((a, b) => a.startedMs - b.startedMs) : records;
  return ordered.map((record) => toolCallTrace(record, clock));
}

function responseType(record: ModelCallRecord): LlmInteraction["responseType"] {
  if (record.response === undefined) return "ERROR";
  return (record.response.message.toolCalls?.length ?? 0) > 0 ? "TOOL_CALLS" : "FINAL_ANSWER";
}

function interaction(record: ModelCallRecord, clock: WallClock): LlmInteraction {
  const { usage, response, error } = record;
  const { startedAt, completedAt, durationMs } = span(clock, record.startedMs, record.startedMs + usage.latencyMs);
  return {
    iterationIndex: record.iteration,
    attempt: usage.attempt,
    purpose: usage.purpose,
    provider: usage.provider,
    modelId: usage.modelId,
    startedAt,
    completedAt,
    latencyMs: durationMs,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    responseType: responseType(record),
    responseText: response?.message.content ?? "",
    finishReason: response?.finishReason,
    error: error === undefined ? undefined : messageOf(error),
    toolCalls: toolCallTraces(record.tools, clock),
  };
}

function textOf(message: ChatMessage | undefined): string {
  if (message === undefined) return "";
  if (typeof message.content === "string") return message.content;
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function prompts(messages: readonly ChatMessage[] | undefined): TaskTrace["prompts"] {
  if (messages === undefined) return undefined;
  const first = (role: ChatMessage["role"]): string => textOf(messages.find((message) => message.role === role));
  return { systemPrompt: first("system"), userPrompt: first("user") };
}

/** Makes the traces of a run's tasks; workers stand inside the delegations that led to them. */
export class TaskTraces {
  readonly #run: RunRecord;
  readonly #clock: WallClock;

  constructor(run: RunRecord, clock: WallClock) {
    this.#run = run;
    this.#clock = clock;
  }

  /** Every attempt of every task that is not a delegation's worker. */
  topLevel(): readonly TaskTrace[] {
    const workers = new Set(this.#run.tasks.flatMap((task) => task.delegations.map((delegation) => delegation.worker)));
    return Object.freeze(this.#run.tasks.filter((task) => !workers.has(task)).map((task) => this.#taskTrace(task)));
  }

  /** When a task ended: one that never did (it was abandoned) counts until the end of the run. */
  #end(task: TaskRecord): number {
    return task.outcome === "running" ? this.#run.endedMs : task.endedMs;
  }

  #taskTrace(record: TaskRecord): TaskTrace {
    const output = record.output;
    return Object.freeze({
      taskId: record.taskId,
      attempt: record.attempt,
      outcome: record.outcome,
      taskDescription: record.task.description,
      expectedOutput: record.task.expectedOutput,
      agentRole: record.agentRole,
      ...span(this.#clock, record.startedMs, this.#end(record)),
      prompts: prompts(record.messages),
      llmInteractions: record.calls.map((call) => interaction(call, this.#clock)),
      toolCalls: toolCallTraces(record.tools, this.#clock),
      delegations: record.delegations.map((delegation) => this.#delegationTrace(delegation)),
      finalOutput: output?.raw,
      parsedOutput: output === undefined || output.parsed === output.raw ? undefined : output.parsed,
      metrics: record.metrics,
      ...record.mapReduce,
    });
  }

  #delegationTrace(record: DelegationRecord): DelegationTrace {
    return {
      delegatorRole: record.delegatorRole,
      workerRole: record.workerRole,
      taskDescription: record.taskDescription,
      ...span(this.#clock, record.startedMs, record.endedMs),
      depth: record.depth,
      result: record.result,
      succeeded: record.succeeded,
      workerTrace: record.worker === undefined ? undefined : this.#taskTrace(record.worker),
    };
  }

  /** One entry for every task that failed, in the order of the tasks, and the run's own at the end. */
  errors(): readonly ErrorTrace[] {
    const failed = this.#run.tasks.flatMap((task) => (task.error === undefined ? [] : [this.#errorTrace(task.error, this.#end(task), task)]));
    const own = this.#run.error;
    return Object.freeze(own === undefined ? failed : [...failed, this.#errorTrace(own, this.#run.endedMs)]);
  }

  #errorTrace(error: Error, atMs: number, task?: TaskRecord): ErrorTrace {
    return {
      taskId: task?.taskId,
      agentRole: task?.agentRole,
      taskDescription: task?.task.description,
      errorType: error.name,
      code: AgentEnsembleError.isInstance(error) ? error.code : undefined,
      message: messageOf(error),
      stackTrace: error.stack,
      occurredAt: this.#clock(atMs),
    };
  }

  /** Every agent that worked, once. `allowDelegation` tells whether it delegated in this run. */
  agents(): readonly AgentSummary[] {
    const delegated = new Map<Agent, boolean>();
    for (const { agent, delegations } of this.#run.tasks) {
      if (agent !== undefined) delegated.set(agent, delegated.get(agent) === true || delegations.length > 0);
    }
    const summaries = [...delegated].map(([agent, allowDelegation]) => ({
      role: agent.role,
      goal: agent.goal,
      background: agent.background,
      toolNames: agent.tools.flatMap((tool) => (isTool(tool) ? [tool.name] : [])),
      allowDelegation,
    }));
    return Object.freeze(summaries);
  }
}
