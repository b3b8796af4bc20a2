import type { ToolCall } from "../../contracts/chat-model.js";
import type { ToolCallContext } from "../../contracts/hooks.js";
import type { TaskScope } from "../../contracts/run.js";
import type { AnyTool } from "../../contracts/tool.js";
import type { CalledToolOutcome } from "../../contracts/trace.js";
import type { HookPair } from "../../kernel/hooks/points.js";
import { partsField } from "../../contracts/part-summary.js";
import {
  TaskTimeoutError,
  ToolConfigurationError,
  ToolExecutionError,
  endsRun,
  reasonOf,
} from "../../contracts/errors.js";
import { ReviewTimeoutError, ReviewUnavailableError } from "../../contracts/state-errors.js";
import { ToolResult, toToolResult } from "../../contracts/tool-result.js";
import { knownNames } from "../../contracts/validation.js";
import { messageOf, toError } from "../../util/errors.js";
import { type AfterPayload, takeStep } from "../../kernel/hooks/step.js";
import type { Checked } from "../../util/schema/standard-schema.js";
import { FrameStep, type TaskFrame } from "../tasks/task-frame.js";
import { checkInput, readInput } from "../../contracts/tool-input.js";
import { type ToolCallProgress, executeTool } from "./tool-execution.js";

/**
 * Gateway of all tool calls. A refusal is a failed result.
 * @throws ToolExecutionError if the tool threw or timed out. Unchanged: tap failures, stop reasons,
 * early exits, suspensions, ToolConfigurationError, ReviewTimeoutError, ReviewUnavailableError.
 */
export async function callTool(
  frame: TaskFrame,
  scope: TaskScope,
  toolCall: ToolCall,
  tools: readonly AnyTool[],
): Promise<ToolResult> {
  if (frame.cancellation.reason !== undefined) throw frame.cancellation.reason;
  const { clock, settings } = frame.run;
  const progress: ToolCallProgress = {
    frame,
    scope,
    toolCall,
    startedMs: clock.monotonicMs(),
    idempotencyKey: `${frame.run.info.id}/${frame.origin}/${frame.keyPartFor(toolCall.id)}`,
  };
  const tool = tools.find((t) => t.name === toolCall.name);
  emitToolStarted(progress, tool);
  if (tool === undefined) {
    const names = tools.map((t) => t.name);
    const problem = `Unknown tool '${toolCall.name}'. ${knownNames(toolCall.name, names)}`;
    return finish(progress, "FAILURE", ToolResult.failure(problem));
  }
  let input: Checked;
  try {
    const read = readInput(tool, toolCall.arguments, settings.schemaValidators);
    input = read instanceof Promise ? await read : read;
  } catch (error) {
    throw failed(progress, error, false);
  }
  if (!input.ok)
    return finish(progress, "FAILURE", ToolResult.failure(invalidInput(tool, input.problem)));
  const step = new ToolStep(progress, tool, input.value);
  await takeStep(step);
  const result = conclude(step);
  if (step.earlyExit !== undefined) throw step.earlyExit; // of a review of the recorded result
  return result;
}

/** Records the call of a step. Returns its result for the model, or throws. */
function conclude(step: ToolStep): ToolResult {
  const { progress, outcome, result, error, afterHookError } = step;
  if (afterHookError !== undefined) {
    // The tool may have run.
    recordCall(progress, "ERROR", `Tool error: ${messageOf(afterHookError)}`);
    throw afterHookError;
  }
  const rejection = step.rejection ?? (outcome === "rejected" ? toError(error) : undefined);
  if (rejection !== undefined)
    return finish(progress, "REJECTED", ToolResult.failure(reasonOf(rejection)));
  if (result === undefined) throw failed(progress, error, step.failedBeforeWork);
  return finish(progress, result.ok ? "SUCCESS" : "FAILURE", result);
}

class ToolStep extends FrameStep<ToolCallContext, ToolResult> {
  /** Whether a tap or check failed before the work or an answer. A model can't correct that. */
  failedBeforeWork = false;
  #problem: string | undefined;

  constructor(
    readonly progress: ToolCallProgress,
    readonly tool: AnyTool,
    input: unknown,
  ) {
    const { run, record, cancellation } = progress.frame;
    super(progress.frame, {
      run: run.info,
      taskId: record.taskId,
      agentRole: record.agentRole,
      tool,
      call: progress.toolCall,
      input,
      parentTaskId: record.parentTaskId,
      attempt: record.attempt,
      idempotencyKey: progress.idempotencyKey,
      signal: cancellation.signal,
    });
  }

  get hooks(): HookPair {
    return this.frame.run.points.toolCall;
  }

  /** Checks a changed input first. Policies then judge the actual input of the tool. */
  override async check(changed: ToolCallContext): Promise<ToolCallContext | undefined> {
    const { schemaValidators } = this.frame.run.settings;
    const checked = await checkInput(this.tool, changed.input, schemaValidators);
    if (checked.ok) return { ...changed, input: checked.value };
    this.#problem = invalidInput(this.tool, checked.problem);
    return undefined;
  }

  work(): ToolResult | Promise<ToolResult> {
    return executeTool(this.progress, this.tool, this.call.input);
  }

  override fromAnswer(value: unknown): ToolResult {
    return toToolResult(value);
  }

  override done(): void {
    const { error, reached, outcome, tool } = this;
    if (tool.untrusted === true && outcome !== "rejected")
      this.call.run.noteUntrusted(`tool '${tool.name}'`);
    if (outcome === "rejected") this.error = new Error(this.#problem ?? reasonOf(toError(error)));
    else if (ToolExecutionError.isInstance(error))
      this.error = error.cause ?? error; // from a tap that answers for the tool
    else this.failedBeforeWork = reached === "hooks";
  }

  afterPayload(): AfterPayload {
    const { outcome, result, error, call } = this;
    return result === undefined
      ? { outcome, error: toError(error), ...call }
      : { outcome, result, ...call };
  }

  override resultIn({ result }: AfterPayload): ToolResult {
    return toToolResult(result);
  }
}

function invalidInput(tool: AnyTool, problem: string): string {
  return `Invalid input for tool '${tool.name}': ${problem}`;
}

function finish(
  progress: ToolCallProgress,
  outcome: CalledToolOutcome,
  result: ToolResult,
): ToolResult {
  const text = result.ok ? result.output : `Error: ${result.errorMessage ?? ""}`;
  recordCall(progress, outcome, text, result);
  return result;
}

/** Records a failure. Returns the error for the caller. */
function failed(progress: ToolCallProgress, failure: unknown, failedBeforeWork: boolean): Error {
  const { frame, toolCall } = progress;
  const { reason } = frame.cancellation;
  const isStopped = reason !== undefined || endsRun(failure);
  const isTimedOut = TaskTimeoutError.isInstance(failure); // also if an inner call timed out
  const outcome = isStopped ? "CANCELLED" : isTimedOut ? "TIMED_OUT" : "ERROR";
  const problem = messageOf(failure);
  recordCall(progress, outcome, `Tool error: ${problem}`);
  // A model can't correct a configuration, and must not continue without the required review.
  if (
    isStopped ||
    failedBeforeWork ||
    ToolConfigurationError.isInstance(failure) ||
    ReviewTimeoutError.isInstance(failure) ||
    ReviewUnavailableError.isInstance(failure)
  )
    return reason ?? toError(failure);
  return new ToolExecutionError(
    `Tool '${toolCall.name}' failed: ${problem}`,
    { toolName: toolCall.name, toolInput: toolCall.arguments },
    { cause: failure },
  );
}

function emitToolStarted({ frame, toolCall }: ToolCallProgress, tool: AnyTool | undefined): void {
  const { run } = frame;
  if (!run.events.listens("tool_started")) return;
  // A tool that delegates is private by default.
  const { title, client, untrusted, delegates, private: isPrivate = delegates } = tool ?? {};
  run.emit({
    type: "tool_started",
    ...frame.identity,
    callId: toolCall.id,
    iteration: frame.modelCalls - 1,
    toolName: toolCall.name,
    toolArguments: toolCall.arguments,
    ...(title !== undefined && { title }),
    ...(isPrivate === true && { private: true }),
    ...(client === true && { client }),
    ...(untrusted === true && { untrusted }),
  });
}

function recordCall(
  { frame, toolCall, startedMs }: ToolCallProgress,
  outcome: CalledToolOutcome,
  text: string,
  result?: ToolResult,
): void {
  const { run, record } = frame;
  const structured = result?.structured;
  const parts = result?.parts ?? []; // results of another copy of the package may have none
  const { id: callId, name: toolName, arguments: toolArguments } = toolCall;
  const endedMs = run.clock.monotonicMs();
  record.addTool({
    toolName,
    arguments: toolArguments,
    result: text,
    structured,
    ...(parts.length > 0 && { parts }),
    startedMs,
    endedMs,
    outcome,
  });
  if (!run.events.listens("tool_called")) return;
  run.emit({
    type: "tool_called",
    ...frame.identity,
    taskIndex: run.indexOf(record.taskId),
    callId,
    iteration: frame.modelCalls - 1,
    toolName,
    toolArguments,
    toolResult: text,
    structuredResult: structured,
    ...(result !== undefined && result.sources.length > 0 && { sources: result.sources }),
    ...partsField(parts),
    durationMs: Math.round(endedMs - startedMs),
    outcome: outcome === "SUCCESS" ? "SUCCESS" : "FAILURE",
    toolOutcome: outcome,
  });
}
