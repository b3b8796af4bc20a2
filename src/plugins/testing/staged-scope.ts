import type { Agent } from "../../contracts/agent.js";
import type {
  ChatModel,
  ChatRequest,
  ChatResponse,
  Purpose,
  ToolCall,
} from "../../contracts/chat-model.js";
import type { NewEvent } from "../../contracts/events.js";
import type { MemoryEntry } from "../../contracts/memory.js";
import type { HookRun, MemoryTarget, TaskMetricsUpdate, TaskScope } from "../../contracts/run.js";
import type { AnyTool, ToolContext } from "../../contracts/tool.js";
import type { Token } from "../../contracts/token.js";
import type { Checked } from "../../util/schema/standard-schema.js";
import { ToolExecutionError, ValidationError } from "../../contracts/errors.js";
import { ReviewDecision } from "../../contracts/review.js";
import { ToolResult } from "../../contracts/tool-result.js";
import { checkValue, isValidating } from "../../util/schema/standard-schema.js";
import { ScriptedModel } from "./scripted-model.js";
import { StagedHookRun } from "./staged-hook-run.js";
import { messageOf } from "../../util/errors.js";

const NOTHING: readonly never[] = Object.freeze([]);

/** Creates the context of a tool call in a scope without a run. Every approval is granted. */
export function stagedContext(scope: StagedScope, toolCallId = "call_1"): ToolContext {
  const { signal, run, taskId } = scope;
  return {
    scope,
    run,
    signal,
    runId: run.id,
    taskId,
    agentRole: "Tester",
    toolCallId,
    idempotencyKey: `${run.id}/${taskId}@1/${toolCallId}`,
    requestApproval: async () => ReviewDecision.continue(),
  };
}

/**
 * The scope of a task without a run. Model and tools are called at once, without hooks and records.
 */
export class StagedScope implements TaskScope {
  readonly run: HookRun;
  readonly taskId = "task-1";
  readonly agentRole = "Tester";
  readonly taskIndex = 1;
  readonly parentTaskId = undefined;
  readonly attempt = 1;
  readonly depth = 0;
  readonly maxToolOutputLength = -1;
  readonly workers = NOTHING;
  readonly streaming = false;
  /** Visible to executors, which must call it only through `chat`. */
  readonly model: ScriptedModel;
  readonly purposes: Purpose[] = [];
  readonly #controller = new AbortController();
  readonly #answer: ChatModel;

  constructor(runId: string, answer: ChatModel) {
    this.run = new StagedHookRun(runId);
    this.model = new ScriptedModel([]);
    this.#answer = answer;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  handOver(_agent: Agent): void {
    // the role stays the role of the staged task
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  async chat(
    request: ChatRequest,
    { purpose }: { readonly purpose: Purpose },
  ): Promise<ChatResponse> {
    this.signal.throwIfAborted();
    this.purposes.push(purpose);
    return this.#answer.chat(request, { signal: this.signal });
  }

  async callTool(call: ToolCall, tools: readonly AnyTool[]): Promise<ToolResult> {
    this.signal.throwIfAborted();
    const tool = tools.find(({ name }) => name === call.name);
    if (tool === undefined) return ToolResult.failure(`Unknown tool '${call.name}'`);
    const input = await inputOf(tool, call.arguments);
    if (!input.ok)
      return ToolResult.failure(`Invalid input for tool '${tool.name}': ${input.problem}`);
    try {
      const returned = await tool.execute(input.value, stagedContext(this, call.id));
      if (ToolResult.isInstance(returned)) return returned;
      return typeof returned === "string"
        ? ToolResult.success(returned)
        : ToolResult.success(JSON.stringify(returned) ?? "", returned);
    } catch (error) {
      if (error === this.signal.reason) throw error;
      throw new ToolExecutionError(
        `Tool '${call.name}' failed: ${messageOf(error)}`,
        { toolName: call.name, toolInput: call.arguments },
        { cause: error },
      );
    }
  }

  format(_value: unknown, text: string): string {
    return text;
  }

  recordMetrics(_measures: TaskMetricsUpdate): void {
    // not measured
  }

  skipTool(_call: ToolCall, _text: string): void {
    // not stored
  }

  emit(_event: NewEvent): void {
    // no listener
  }

  listens(): boolean {
    return false;
  }

  /** The clock is the only binding, because tools that use the time need it. */
  get<T>(token: Token<T>): T {
    return this.run.get(token);
  }

  find<T>(token: Token<T>): T | undefined {
    return this.run.find(token);
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

  writeMemory(scope: string, entry: MemoryEntry, target?: MemoryTarget): Promise<void> {
    return target === undefined
      ? Promise.reject(new ValidationError("A staged scope has no memory"))
      : target.store.store(scope, entry);
  }
}

/**
 * Returns the input that the kernel would create from the arguments of a call. It is checked by the
 * schema of the tool. Without a schema it is the text under `input`.
 */
async function inputOf(tool: AnyTool, text: string): Promise<Checked> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return tool.input === undefined
      ? { ok: true, value: text }
      : { ok: false, problem: messageOf(error) };
  }
  if (tool.input !== undefined)
    return isValidating(tool.input) ? checkValue(tool.input, value) : { ok: true, value };
  const field =
    typeof value === "object" && value !== null && "input" in value ? value.input : text;
  return { ok: true, value: typeof field === "string" ? field : JSON.stringify(field) };
}
