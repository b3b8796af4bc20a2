import type { ChatModel, ChatRequest, ChatResponse, Purpose, ToolCall } from "../../contracts/chat-model.js";
import type { NewEvent } from "../../contracts/events.js";
import type { RunInfo, TaskScope } from "../../contracts/run.js";
import type { AnyTool } from "../../contracts/tool.js";
import { ToolExecutionError, ValidationError, messageOf } from "../../contracts/errors.js";
import { ToolResult } from "../../contracts/tool.js";
import { ScriptedModel } from "./scripted-model.js";
import { stagedInfo } from "./staged-run.js";

const NOTHING: readonly never[] = Object.freeze([]);

/** A task's scope without a run behind it: model and tools are called at once, without hooks and records. */
export class StagedScope implements TaskScope {
  readonly run: RunInfo;
  readonly taskId = "task-1";
  readonly taskIndex = 1;
  readonly parentTaskId = undefined;
  readonly attempt = 1;
  readonly depth = 0;
  readonly maxToolOutputLength = -1;
  readonly workers = NOTHING;
  /** What executors see: it must not be called but through `chat`. */
  readonly model: ScriptedModel;
  readonly purposes: Purpose[] = [];
  readonly #controller = new AbortController();
  readonly #answer: ChatModel;

  constructor(runId: string, answer: ChatModel) {
    this.run = stagedInfo(runId);
    this.model = new ScriptedModel([]);
    this.#answer = answer;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  async chat(request: ChatRequest, { purpose }: { readonly purpose: Purpose }): Promise<ChatResponse> {
    this.signal.throwIfAborted();
    this.purposes.push(purpose);
    return this.#answer.chat(request, { signal: this.signal });
  }

  async callTool(call: ToolCall, tools: readonly AnyTool[]): Promise<ToolResult> {
    this.signal.throwIfAborted();
    const tool = tools.find(({ name }) => name === call.name);
    if (tool === undefined) return ToolResult.failure(`Unknown tool '${call.name}'`);
    const context = { scope: this, signal: this.signal, runId: this.run.id, taskId: this.taskId, agentRole: "Tester", toolCallId: call.id };
    try {
      const returned = await tool.execute(tool.input === undefined ? inputOf(call.arguments) : JSON.parse(call.arguments), context);
      if (ToolResult.isInstance(returned)) return returned;
      return typeof returned === "string" ? ToolResult.success(returned) : ToolResult.success(JSON.stringify(returned) ?? "", returned);
    } catch (error) {
      if (error === this.signal.reason) throw error;
      throw new ToolExecutionError(`Tool '${call.name}' failed: ${messageOf(error)}`, { toolName: call.name, toolInput: call.arguments }, { cause: error });
    }
  }

  skipTool(_call: ToolCall, _text: string): void {
    // kept nowhere
  }

  emit(_event: NewEvent): void {
    // nobody listens
  }

  listens(): boolean {
    return false;
  }

  get<T>(): T {
    throw new ValidationError("A staged scope has no bindings");
  }

  all<T>(): readonly T[] {
    return NOTHING;
  }

  runTask(): Promise<never> {
    return Promise.reject(new ValidationError("A staged scope has no other tasks"));
  }

  define(): never {
    throw new ValidationError("A staged scope has no other tasks");
  }

  delegate(): Promise<never> {
    return Promise.reject(new ValidationError("A staged scope has no other agents"));
  }

  writeMemory(): Promise<never> {
    return Promise.reject(new ValidationError("A staged scope has no memory"));
  }
}

/** A tool without a schema takes the text under `input`. */
function inputOf(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null && "input" in parsed ? String(parsed.input) : text;
}
