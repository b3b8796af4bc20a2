import type { Agent } from "../../contracts/agent.js";
import type { ChatMessage } from "../../contracts/chat-model.js";
import type { TaskMetrics, TaskOutput } from "../../contracts/output.js";
import type { PlannedTask } from "../../contracts/plan.js";
import type { AnyTask } from "../../contracts/task.js";
import type {
  DelegationRecord,
  MemoryAccess,
  ModelCallRecord,
  TaskRecord,
  ToolCallRecord,
} from "../../contracts/trace.js";
import type { Outcome } from "../../contracts/types.js";
import type { TaskMetricsUpdate } from "../../contracts/run.js";
import { NO_METRICS } from "../../contracts/output.js";
import { addOperations, metricsOf, toolCallCountOf } from "../../contracts/metrics.js";
import { toError } from "../../util/errors.js";

/** An empty list, shared by records until they add an item. */
export const NONE: readonly never[] = Object.freeze([]);

/** Returns the list with an additional item. Reuses the array after the first item. */
function withItem<T>(list: readonly T[], item: T): readonly T[] {
  if (list.length === 0) return [item];
  (list as T[]).push(item); // created by the line above, for the first item
  return list;
}

/** Wall-clock start of a run and its monotonic time, in ms. All instants derive from this pair. */
export interface TimeBase {
  readonly startedAt: Date;
  readonly startedMs: number;
}

/** The data of an attempt that are known at its start. */
export interface AttemptStart {
  readonly base: TimeBase;
  readonly taskId: string;
  readonly parentTaskId: string | undefined;
  readonly attempt: number;
  readonly task: AnyTask;
  readonly agent: Agent | undefined;
  readonly agentRole: string;
  readonly startedMs: number;
  /** The attempt that this attempt repeats after a guardrail's refusal. */
  readonly previous?: TaskAttempt | undefined;
  readonly contextIds?: readonly string[];
  readonly mapReduce?: PlannedTask["mapReduce"];
}

/** One attempt of a task. Refers to the objects of the gateways. Copies nothing. */
export class TaskAttempt implements TaskRecord {
  readonly base: TimeBase;
  readonly taskId: string;
  readonly parentTaskId: string | undefined;
  readonly attempt: number;
  readonly task: AnyTask;
  /** The current or last agent. A handoff changes it. */
  agent: Agent | undefined;
  agentRole: string;
  readonly startedMs: number;
  readonly previous: TaskAttempt | undefined;
  readonly contextIds: readonly string[];
  readonly mapReduce: PlannedTask["mapReduce"];
  endedMs: number;
  outcome: TaskRecord["outcome"] = "running";
  messages: readonly ChatMessage[] | undefined;
  calls: readonly ModelCallRecord[] = NONE;
  restoredToolCalls: number | undefined;
  tools: readonly ToolCallRecord[] = NONE;
  delegations: readonly DelegationRecord[] = NONE;
  output: TaskOutput | undefined;
  error: Error | undefined;
  /** Tokens of a guarded stream, until the output is accepted. */
  heldTokens: string[] | undefined;
  /** Metrics recorded by plugins. */
  measures: TaskRecord["measures"];
  memory: MemoryAccess[] | undefined;
  /** The last model call of this attempt. */
  lastCall: ModelCallRecord | undefined;

  constructor(start: AttemptStart) {
    this.base = start.base;
    this.taskId = start.taskId;
    this.parentTaskId = start.parentTaskId;
    this.attempt = start.attempt;
    this.task = start.task;
    this.agent = start.agent;
    this.agentRole = start.agentRole;
    this.startedMs = start.startedMs;
    this.previous = start.previous;
    this.contextIds = start.contextIds ?? NONE;
    this.mapReduce = start.mapReduce;
    this.endedMs = start.startedMs;
  }

  end(endedMs: number, outcome: Outcome, error: unknown): void {
    this.endedMs = endedMs;
    this.outcome = outcome;
    this.error = error === undefined ? undefined : toError(error);
  }

  /** The first attempt of a series of repetitions. This attempt if it repeats none. */
  get first(): TaskAttempt {
    let first: TaskAttempt = this;
    while (first.previous !== undefined) first = first.previous;
    return first;
  }

  addCall(call: ModelCallRecord): void {
    this.lastCall = call;
    this.addForeign(call);
  }

  /** Adds a call of another process. It caused no tool calls. */
  addForeign(call: ModelCallRecord): void {
    this.calls = withItem(this.calls, call);
  }

  addTool(tool: ToolCallRecord): void {
    const place = this.lastCall ?? this;
    place.tools = withItem(place.tools, tool);
  }

  addDelegation(delegation: DelegationRecord): void {
    this.delegations = withItem(this.delegations, delegation);
  }

  /** Adds an access to memory, a read or a write. */
  addMemory(access: MemoryAccess): void {
    (this.memory ??= []).push(access);
  }

  note({ promptBuildMs = 0, memoryRetrievalMs = 0, memoryOperations }: TaskMetricsUpdate): void {
    const before = this.measures ?? NO_METRICS;
    this.measures = {
      promptBuildMs: before.promptBuildMs + promptBuildMs,
      memoryRetrievalMs: before.memoryRetrievalMs + memoryRetrievalMs,
      memoryOperations:
        memoryOperations === undefined
          ? before.memoryOperations
          : addOperations(before.memoryOperations, memoryOperations),
    };
  }

  wallClock(ms: number): Date {
    return new Date(this.base.startedAt.getTime() + (ms - this.base.startedMs));
  }

  /** Tool calls of this attempt and of the attempts it repeats. */
  get toolCallCount(): number {
    let count = 0;
    for (let record: TaskAttempt | undefined = this; record !== undefined; record = record.previous)
      count += toolCallCountOf(record);
    return count;
  }

  get metrics(): TaskMetrics {
    return metricsOf([this]);
  }

  /** Metrics of this attempt and of the attempts it repeats. */
  get totalMetrics(): TaskMetrics {
    const attempts: TaskAttempt[] = [];
    for (let record: TaskAttempt | undefined = this; record !== undefined; record = record.previous)
      attempts.push(record);
    return metricsOf(attempts);
  }
}
