import type { AgentEnsembleError } from "../../contracts/errors.js";
import type { ToolCall } from "../../contracts/chat-model.js";
import type { ReviewDecision } from "../../contracts/review.js";
import type { TaskScope } from "../../contracts/run.js";
import type { RunInfo } from "../../contracts/run-info.js";
import type { TaskFrame } from "../tasks/task-frame.js";
import { TaskTimeoutError } from "../../contracts/errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { type AnyTool, type ToolContext, noReviewer } from "../../contracts/tool.js";
import { type ToolResult, toToolResult } from "../../contracts/tool-result.js";
import { Cancellation } from "../../util/abort/cancellation.js";
import { settleWithin } from "../../util/abort/timeouts.js";
import { isThenable } from "../../util/objects.js";

/** The state of a tool call from the model's request to its record. */
export interface ToolCallProgress {
  readonly frame: TaskFrame;
  readonly scope: TaskScope;
  readonly toolCall: ToolCall;
  readonly startedMs: number;
  readonly idempotencyKey: string;
}

/**
 * Runs a tool within its limit. Delegated work has other limits. Async only for async tools.
 * A tool with a limit has no grace period: the model receives the error at the limit.
 */
export function executeTool(
  progress: ToolCallProgress,
  tool: AnyTool,
  input: unknown,
): ToolResult | Promise<ToolResult> {
  const { run, cancellation: ofTask } = progress.frame;
  const { callGraceMs, toolTimeoutMs } = run.limits;
  const timeoutMs = tool.timeoutMs ?? (tool.delegates === true ? undefined : toolTimeoutMs);
  const limit =
    timeoutMs === undefined
      ? undefined
      : new Cancellation(ofTask).expire(
          timeoutMs,
          () => new TaskTimeoutError(`Tool '${tool.name}'`, timeoutMs),
        );
  const cancellation = limit ?? ofTask;
  const end = (): void => limit?.dispose();
  try {
    const returned = tool.execute(input, new CallContext(progress, tool, cancellation.signal));
    if (isThenable(returned))
      return awaitTool(returned, cancellation, limit === undefined ? callGraceMs : 0, end);
    const result = toToolResult(returned);
    end();
    return result;
  } catch (error) {
    end();
    throw cancellation.reason ?? error; // the stop reason replaces any error of the tool
  }
}

async function awaitTool(
  returned: PromiseLike<unknown>,
  cancellation: Cancellation<AgentEnsembleError>,
  graceMs: number,
  end: () => void,
): Promise<ToolResult> {
  try {
    return toToolResult(await settleWithin(returned, cancellation, graceMs));
  } catch (error) {
    throw cancellation.reason ?? error;
  } finally {
    end();
  }
}

type ApprovalRequest = Parameters<ToolContext["requestApproval"]>[0];

/** The context that a tool receives with its input. */
class CallContext implements ToolContext {
  readonly runId: string;
  readonly taskId: string;
  readonly agentRole: string;
  readonly toolCallId: string;
  readonly idempotencyKey: string;
  readonly scope: TaskScope;
  readonly run: RunInfo;
  readonly #progress: ToolCallProgress;
  readonly #tool: AnyTool;

  constructor(
    progress: ToolCallProgress,
    tool: AnyTool,
    readonly signal: AbortSignal,
  ) {
    const { record, run } = progress.frame;
    this.runId = run.info.id;
    this.taskId = record.taskId;
    this.agentRole = record.agentRole;
    this.toolCallId = progress.toolCall.id;
    this.idempotencyKey = progress.idempotencyKey;
    this.scope = progress.scope;
    this.run = run.info;
    this.#progress = progress;
    this.#tool = tool;
  }

  readonly requestApproval = async (asked: ApprovalRequest): Promise<ReviewDecision> => {
    const { description, ...options } = asked;
    const { run, record } = this.#progress.frame;
    const { name } = this.#tool;
    const gate = run.settings.find(Tokens.ReviewGate);
    if (gate === undefined || !gate.canAsk(run.info)) throw noReviewer(name);
    const { taskId, parentTaskId, agentRole, attempt } = record;
    return gate.ask(
      {
        ...options,
        timing: "DURING_EXECUTION",
        taskDescription: description,
        taskOutput: "",
        toolName: name,
        callId: this.toolCallId,
        key: `${name}:${this.toolCallId}`,
      },
      { run: run.info, taskId, parentTaskId, agentRole, attempt, signal: this.signal },
    );
  };
}
