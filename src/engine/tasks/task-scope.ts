import type { Agent } from "../../contracts/agent.js";
import type {
  ChatModel,
  ChatRequest,
  ChatResponse,
  Purpose,
  ToolCall,
} from "../../contracts/chat-model.js";
import type { DelegationRequest, DelegationResponse } from "../../contracts/delegation.js";
import type { EnsembleEvent, NewEvent } from "../../contracts/events.js";
import type { MemoryEntry } from "../../contracts/memory.js";
import type { TaskOutput } from "../../contracts/output.js";
import type {
  ChatOptions,
  DefineOptions,
  DelegateOptions,
  HookRun,
  MemoryTarget,
  RunTaskOptions,
  TaskMetricsUpdate,
  TaskScope,
} from "../../contracts/run.js";
import type { AnyTask } from "../../contracts/task.js";
import type { Token } from "../../contracts/token.js";
import type { AnyTool } from "../../contracts/tool.js";
import type { ToolResult } from "../../contracts/tool-result.js";
import type { TaskFrame } from "./task-frame.js";
import { chat } from "../gateways/chat.js";
import { delegate } from "../gateways/delegation.js";
import { writeMemory } from "../gateways/memory.js";
import { callTool } from "../gateways/tool.js";

/** One attempt of a task, for its executor: the gateways with the task's frame. */
export class ActiveTaskScope implements TaskScope {
  constructor(readonly frame: TaskFrame) {}

  get run(): HookRun {
    return this.frame.run.info;
  }
  get taskId(): string {
    return this.frame.record.taskId;
  }
  get parentTaskId(): string | undefined {
    return this.frame.record.parentTaskId;
  }
  get taskIndex(): number {
    return this.frame.run.indexOf(this.taskId);
  }
  get agentRole(): string {
    return this.frame.record.agentRole;
  }
  get attempt(): number {
    return this.frame.record.attempt;
  }
  get depth(): number {
    return this.frame.depth;
  }
  get signal(): AbortSignal {
    return this.frame.cancellation.signal;
  }
  get workers(): readonly Agent[] {
    return this.frame.run.view.workers;
  }
  get streaming(): boolean {
    const { streaming, guarded } = this.frame.run;
    return streaming && !guarded;
  }
  get maxToolOutputLength(): number {
    return this.frame.run.limits.maxToolOutputLength;
  }
  get model(): ChatModel {
    return this.frame.model;
  }

  chat(request: ChatRequest, o: ChatOptions): Promise<ChatResponse> {
    const purpose = o.purpose === "task" ? this.#purpose : o.purpose;
    return chat(this.frame, request, purpose === o.purpose ? o : { ...o, purpose });
  }
  /** The purpose of the task's model calls. */
  get #purpose(): Purpose {
    return this.frame.run.planned(this.frame.record.taskId).purpose ?? "task";
  }
  callTool(call: ToolCall, tools: readonly AnyTool[]): Promise<ToolResult> {
    return callTool(this.frame, this, call, tools);
  }
  skipTool(call: ToolCall, text: string): void {
    const now = this.frame.run.clock.monotonicMs();
    this.frame.record.addTool({
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
    return this.frame.run.format(value, text);
  }
  recordMetrics(measures: TaskMetricsUpdate): void {
    this.frame.run.keepMetrics(this.frame.record, measures);
  }
  delegate(request: DelegationRequest, o?: DelegateOptions): Promise<DelegationResponse> {
    return delegate(this.frame, request, o);
  }
  handOver(agent: Agent): void {
    const { record } = this.frame;
    record.agent = agent;
    record.agentRole = agent.role;
  }
  writeMemory(scope: string, entry: MemoryEntry, target?: MemoryTarget): Promise<void> {
    return writeMemory(this.frame, scope, entry, target);
  }
  runTask(taskId: string, extras?: RunTaskOptions): Promise<TaskOutput> {
    return this.frame.run.view.runTask(taskId, {
      parentTaskId: this.taskId,
      signal: this.signal,
      priority: this.frame.priority,
      ...extras,
    });
  }
  define(task: AnyTask, o?: DefineOptions): string {
    return this.frame.run.define(task, { parentTaskId: this.taskId, ...o });
  }
  emit(e: NewEvent): void {
    this.frame.run.emit(e);
  }
  listens(type: EnsembleEvent["type"]): boolean {
    return this.frame.run.events.listens(type);
  }
  get<T>(token: Token<T>): T {
    return this.frame.run.settings.get(token);
  }
  find<T>(token: Token<T>): T | undefined {
    return this.frame.run.settings.find(token);
  }
  all<T>(token: Token<T, "many">): readonly T[] {
    return this.frame.run.settings.all(token);
  }
}
