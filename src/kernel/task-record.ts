import type { Agent } from "../contracts/agent.js";
import type { ChatMessage } from "../contracts/chat-model.js";
import type { MapReduceNode } from "../contracts/map-reduce.js";
import type { TaskMetrics, TaskOutput } from "../contracts/output.js";
import type { AnyTask } from "../contracts/task.js";
import type {
  DelegationRecord,
  MemoryAccess,
  ModelCallRecord,
  TaskRecord,
  ToolCallRecord,
} from "../contracts/trace.js";
import type { MemoryOperationCounts } from "../contracts/memory.js";
import type { TaskMeasures } from "../contracts/run.js";
import { NO_MEMORY_OPERATIONS } from "../contracts/output.js";
import { addOperations, metricsOf } from "./ledger.js";

const NONE: readonly never[] = Object.freeze([]);

/** Wall-clock start of a run and the monotonic time that belongs to it: all instants of the run are derived from this pair. */
export interface TimeBase {
  readonly startedAt: Date;
  readonly startedMs: number;
}

interface Measures {
  promptBuildMs: number;
  memoryRetrievalMs: number;
  memoryOperations: MemoryOperationCounts;
}

/** One attempt of a task while it happens. Holds references to what went through the gateways; nothing is copied. */
export class TaskRecordState implements TaskRecord {
  endedMs: number;
  outcome: TaskRecord["outcome"] = "running";
  messages: readonly ChatMessage[] | undefined;
  calls: readonly ModelCallRecord[] = NONE;
  tools: readonly ToolCallRecord[] = NONE;
  delegations: readonly DelegationRecord[] = NONE;
  output: TaskOutput | undefined;
  error: Error | undefined;
  /** Tokens of a guarded stream, until the output is accepted. */
  heldTokens: string[] | undefined;
  /** What plugins measured. */
  measures: Measures | undefined;
  memory: MemoryAccess[] | undefined;

  constructor(
    readonly base: TimeBase,
    readonly taskId: string,
    readonly parentTaskId: string | undefined,
    readonly attempt: number,
    readonly task: AnyTask,
    readonly agent: Agent | undefined,
    readonly agentRole: string,
    readonly startedMs: number,
    /** The attempt that this one does again, where a guardrail asked for it. */
    readonly previous: TaskRecordState | undefined,
    readonly mapReduce?: MapReduceNode | undefined,
  ) {
    this.endedMs = startedMs;
  }

  get firstStartedMs(): number {
    return this.previous === undefined ? this.startedMs : this.previous.firstStartedMs;
  }

  addCall(call: ModelCallRecord): void {
    if (this.calls.length === 0) this.calls = [call];
    else (this.calls as ModelCallRecord[]).push(call); // its own array from the first call on
  }

  addTool(tool: ToolCallRecord): void {
    const last = this.calls.at(-1);
    if (last !== undefined) last.tools.push(tool);
    else if (this.tools.length === 0) this.tools = [tool];
    else (this.tools as ToolCallRecord[]).push(tool);
  }

  addDelegation(delegation: DelegationRecord): void {
    if (this.delegations.length === 0) this.delegations = [delegation];
    else (this.delegations as DelegationRecord[]).push(delegation);
  }

  /** What was read from memory and written to it. */
  addMemory(access: MemoryAccess): void {
    (this.memory ??= []).push(access);
  }

  note({ promptBuildMs = 0, memoryRetrievalMs = 0, memoryOperations }: TaskMeasures): void {
    const sums = (this.measures ??= {
      promptBuildMs: 0,
      memoryRetrievalMs: 0,
      memoryOperations: NO_MEMORY_OPERATIONS,
    });
    sums.promptBuildMs += promptBuildMs;
    sums.memoryRetrievalMs += memoryRetrievalMs;
    if (memoryOperations !== undefined)
      sums.memoryOperations = addOperations(sums.memoryOperations, memoryOperations);
  }

  wallClock(ms: number): Date {
    return new Date(this.base.startedAt.getTime() + (ms - this.base.startedMs));
  }

  get metrics(): TaskMetrics {
    return metricsOf([this]);
  }

  /** Of this attempt and those it did again. */
  get totalMetrics(): TaskMetrics {
    const attempts: TaskRecordState[] = [];
    for (
      let record: TaskRecordState | undefined = this;
      record !== undefined;
      record = record.previous
    )
      attempts.push(record);
    return metricsOf(attempts);
  }
}
