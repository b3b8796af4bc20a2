import type { Agent } from "../contracts/agent.js";
import type {
  ChatModel,
  ChatRequest,
  ChatResponse,
  Purpose,
  ToolCall,
} from "../contracts/chat-model.js";
import type { DelegationRequest, DelegationResponse } from "../contracts/delegation.js";
import type { EnsembleEvent, NewEvent } from "../contracts/events.js";
import type { MapReduceNode } from "../contracts/map-reduce.js";
import type { MemoryEntry } from "../contracts/memory.js";
import type { TaskOutput } from "../contracts/output.js";
import type {
  DefineOptions,
  DelegateOptions,
  RunInfo,
  TaskExtras,
  TaskMeasures,
  TaskScope,
} from "../contracts/run.js";
import type { AnyTask } from "../contracts/task.js";
import type { Token } from "../contracts/tokens.js";
import type { AnyTool, ToolResult } from "../contracts/tool.js";
import type { Cancellation } from "./cancellation.js";
import type { ChatOptions } from "./chat-gateway.js";
import type { EngineRun } from "./engine-run.js";
import type { TaskRecordState } from "./task-record.js";
import { ValidationError } from "../contracts/errors.js";
import { chat } from "./chat-gateway.js";
import { delegate } from "./delegation-gateway.js";
import { writeMemory } from "./memory-gateway.js";
import { callTool } from "./tool-gateway.js";

/** By the place in a map-reduce tree. A `direct` task does the work of the whole tree. */
const PURPOSES: Readonly<Record<MapReduceNode["nodeType"], Purpose>> = Object.freeze({
  map: "map",
  reduce: "reduce",
  "final-reduce": "reduce",
  direct: "task",
});

/** One attempt of a task as its executor sees it: the gateways, with the task's identity behind them. */
export class GatewayScope implements TaskScope {
  /** Model calls of this attempt so far. */
  iterations = 0;

  constructor(
    readonly engine: EngineRun,
    readonly record: TaskRecordState,
    readonly cancellation: Cancellation,
    readonly depth: number,
    readonly taskIndex: number,
    readonly priority: DelegationRequest["priority"] = "NORMAL",
  ) {}

  get run(): RunInfo {
    return this.engine.info;
  }
  get taskId(): string {
    return this.record.taskId;
  }
  get parentTaskId(): string | undefined {
    return this.record.parentTaskId;
  }
  get attempt(): number {
    return this.record.attempt;
  }
  get signal(): AbortSignal {
    return this.cancellation.signal;
  }
  get workers(): readonly Agent[] {
    return this.engine.view.workers;
  }
  get streaming(): boolean {
    return this.engine.streaming && !this.engine.guarded;
  }
  get maxToolOutputLength(): number {
    return this.engine.limits.maxToolOutputLength;
  }
  get model(): ChatModel {
    const { task, agent } = this.record;
    const model = this.engine.settings.model(task, agent);
    if (model === undefined)
      throw new ValidationError(
        `No LLM available for task '${task.description}'. Provide a task-level chatLanguageModel or an ensemble-level chatLanguageModel.`,
      );
    return model;
  }

  /** What every event of this task bears. */
  get identity(): {
    readonly taskId: string;
    readonly agentRole: string;
    readonly parentTaskId?: string;
  } {
    const { taskId, agentRole, parentTaskId } = this.record;
    return parentTaskId === undefined ? { taskId, agentRole } : { taskId, parentTaskId, agentRole };
  }

  chat(request: ChatRequest, o: ChatOptions): Promise<ChatResponse> {
    const purpose = o.purpose === "task" ? this.#purpose : o.purpose;
    return chat(this, request, purpose === o.purpose ? o : { ...o, purpose });
  }
  /** What the task itself is for: executors know only that they do a task. */
  get #purpose(): Purpose {
    const { mapReduce, taskId } = this.record;
    if (mapReduce !== undefined) return PURPOSES[mapReduce.nodeType];
    return this.engine.isReview(taskId) ? "review" : "task";
  }
  callTool(call: ToolCall, tools: readonly AnyTool[]): Promise<ToolResult> {
    return callTool(this, call, tools);
  }
  skipTool(call: ToolCall, text: string): void {
    const now = this.engine.clock.monotonicMs();
    this.record.addTool({
      toolName: call.name,
      arguments: call.arguments,
      result: text,
      structured: undefined,
      startedMs: now,
      endedMs: now,
      outcome: "SKIPPED_MAX_ITERATIONS",
    });
  }
  format(value: unknown, text: string): string {
    return this.engine.format(value, text);
  }
  note(measures: TaskMeasures): void {
    this.engine.keepMeasures(this.record, measures);
  }
  delegate(request: DelegationRequest, o?: DelegateOptions): Promise<DelegationResponse> {
    return delegate(this, request, o);
  }
  writeMemory(scope: string, entry: MemoryEntry): Promise<void> {
    return writeMemory(this, scope, entry);
  }
  runTask(taskId: string, extras?: TaskExtras): Promise<TaskOutput> {
    return this.engine.view.runTask(taskId, {
      parentTaskId: this.taskId,
      signal: this.signal,
      priority: this.priority,
      ...extras,
    });
  }
  define(task: AnyTask, o?: DefineOptions): string {
    return this.engine.define(task, { parentTaskId: this.taskId, ...o });
  }
  emit(e: NewEvent): void {
    this.engine.emit(e);
  }
  listens(type: EnsembleEvent["type"]): boolean {
    return this.engine.events.listens(type);
  }
  get<T>(token: Token<T>): T {
    return this.engine.settings.get(token);
  }
  all<T>(token: Token<T, "many">): readonly T[] {
    return this.engine.settings.all(token);
  }
}
