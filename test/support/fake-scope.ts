import type { ChatModel, ChatRequest, ToolCall } from "../../src/contracts/chat-model.js";
import type { NewEvent } from "../../src/contracts/events.js";
import type { TaskCall } from "../../src/contracts/hooks.js";
import type { TaskOutput } from "../../src/contracts/output.js";
import type { HookRun, TaskScope } from "../../src/contracts/run.js";
import type { AnyTask } from "../../src/contracts/task.js";
import type { AnyTool } from "../../src/contracts/tool.js";
import { Agent } from "../../src/contracts/agent.js";
import {
  AgentEnsembleError,
  ExitEarlySignal,
  ToolConfigurationError,
  ToolExecutionError,
} from "../../src/contracts/errors.js";
import { NO_METRICS, SOURCE_TASK } from "../../src/contracts/output.js";
import { ReviewDecision } from "../../src/contracts/review.js";
import { Tokens } from "../../src/contracts/tokens.js";
import { ToolResult } from "../../src/contracts/tool-result.js";
import { ScriptedModel } from "../../src/plugins/testing/index.js";
import { StagedHookRun } from "../../src/plugins/testing/staged-hook-run.js";
import { messageOf } from "../../src/util/errors.js";

/** A run that was never started. */
export const fakeRun: HookRun = new StagedHookRun("run-1");

/** The parts of a fake scope, and its records. */
export interface FakeScopeOptions {
  readonly model?: ChatModel | undefined;
  readonly depth?: number | undefined;
  readonly maxToolOutputLength?: number | undefined;
  readonly parentTaskId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Event types with a listener; default none. */
  readonly listening?: readonly NewEvent["type"][] | undefined;
  /** The results of `all`, by token. */
  readonly contributions?: ReadonlyMap<unknown, readonly unknown[]> | undefined;
}

/** A scope with its records. */
export interface FakeScope extends TaskScope {
  readonly events: readonly NewEvent[];
  readonly purposes: readonly string[];
  readonly requests: readonly ChatRequest[];
  readonly skipped: readonly { readonly call: ToolCall; readonly text: string }[];
}

const EMPTY: readonly never[] = Object.freeze([]);

function unsupported(what: string): never {
  throw new Error(`the fake scope has no ${what}`);
}

function inputOf(tool: AnyTool, call: ToolCall): unknown {
  if (tool.input !== undefined) return JSON.parse(call.arguments);
  const parsed: unknown = JSON.parse(call.arguments);
  return typeof parsed === "object" && parsed !== null && "input" in parsed
    ? String(parsed.input)
    : call.arguments;
}

async function callTool(
  scope: TaskScope,
  call: ToolCall,
  tools: readonly AnyTool[],
): Promise<ToolResult> {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) return ToolResult.failure(`Unknown tool '${call.name}'`);
  let result: unknown;
  try {
    result = await tool.execute(inputOf(tool, call), {
      scope,
      signal: scope.signal,
      run: scope.run,
      runId: scope.run.id,
      taskId: scope.taskId,
      agentRole: "Tester",
      toolCallId: call.id,
      idempotencyKey: `${scope.run.id}/${scope.taskId}@1/${call.id}`,
      requestApproval: async () => ReviewDecision.continue(),
    });
  } catch (error) {
    if (ExitEarlySignal.isInstance(error) || ToolConfigurationError.isInstance(error)) throw error;
    throw new ToolExecutionError(
      `Tool '${call.name}' failed: ${messageOf(error)}`,
      { toolName: call.name, toolInput: call.arguments },
      { cause: error },
    );
  }
  if (ToolResult.isInstance(result)) return result;
  return typeof result === "string"
    ? ToolResult.success(result)
    : ToolResult.success(JSON.stringify(result ?? ""), result);
}

/** A TaskScope without a kernel: calls the model and the tools directly, and records the calls. */
export function fakeScope(o: FakeScopeOptions = {}): FakeScope {
  const events: NewEvent[] = [];
  const purposes: string[] = [];
  const requests: ChatRequest[] = [];
  const skipped: { call: ToolCall; text: string }[] = [];
  const model = o.model ?? new ScriptedModel([]);
  const signal = o.signal ?? new AbortController().signal;
  const scope: FakeScope = {
    run: fakeRun,
    taskId: "task-1",
    agentRole: "Tester",
    taskIndex: 1,
    workers: [],
    parentTaskId: o.parentTaskId,
    attempt: 1,
    depth: o.depth ?? 0,
    signal,
    model,
    recordMetrics: () => undefined,
    format: (_value, text) => text,
    streaming: false,
    maxToolOutputLength: o.maxToolOutputLength ?? -1,
    events,
    purposes,
    requests,
    skipped,
    chat(request, { purpose }) {
      purposes.push(purpose);
      requests.push(request);
      return model.chat(request, { signal });
    },
    callTool: (call, tools) => callTool(scope, call, tools),
    skipTool: (call, text) => void skipped.push({ call, text }),
    emit: (event) => void events.push(event),
    listens: (type) => o.listening?.includes(type) ?? false,
    get: (token) => fakeRun.get(token),
    find: () => undefined,
    all: <T>(token: unknown) => (o.contributions?.get(token) ?? EMPTY) as readonly T[], // as bound by the test
    runTask: () => unsupported("other tasks"),
    define: () => unsupported("other tasks"),
    delegate: () => unsupported("delegation"),
    handOver: () => undefined,
    writeMemory: () => unsupported("memory"),
  };
  return scope;
}

/** The agent of tests without a specific agent. */
const tester = new Agent({ role: "Tester", goal: "Test things" });

/** The call of a task. */
export function taskCall(task: AnyTask, o: Partial<TaskCall> = {}): TaskCall {
  return {
    run: fakeRun,
    taskId: "task-1",
    identity: "task-1",
    task,
    source: task,
    agent: tester,
    contextOutputs: [],
    promptSections: [],
    attempt: 1,
    signal: new AbortController().signal,
    ...o,
  };
}

/** The output of an earlier task. */
export function fakeOutput(
  task: AnyTask,
  agentRole: string,
  raw: string,
  parsed: unknown = raw,
): TaskOutput {
  const output = {
    taskId: "task-0",
    raw,
    parsed,
    taskDescription: task.description,
    agentRole,
    completedAt: new Date(0),
    durationMs: 0,
    toolCallCount: 0,
    metrics: NO_METRICS,
    [SOURCE_TASK]: task,
    getParsedOutput: () => parsed as never, // by the test's own word
  };
  return output;
}

/** Prompt templates as contributions. */
export function templates(
  ...contributions: readonly object[]
): ReadonlyMap<unknown, readonly unknown[]> {
  return new Map<unknown, readonly unknown[]>([[Tokens.PromptTemplates, contributions]]);
}

/** The rejection of a promise. @throws Error if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("the promise did not reject");
}

/** The framework's error that a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<AgentEnsembleError> {
  const error = await rejection(promise);
  if (!AgentEnsembleError.isInstance(error))
    throw new Error(`rejected with something else: ${messageOf(error)}`);
  return error;
}
