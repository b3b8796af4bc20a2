import type { Attributes } from "@opentelemetry/api";
import type { Ev } from "../../../contracts/events.js";
import type { After, ToolCallContext } from "../../../contracts/hooks.js";
import type { ToolResult } from "../../../contracts/tool-result.js";
import type { RunTrace } from "./run-trace.js";
import type { OpenToolCall } from "./task-trace.js";
import type { Tracing } from "./tracing.js";
import { ATTRIBUTES, OPERATIONS } from "./semantic-names.js";
import { begin, errorAttribute, noteError } from "./tracing.js";

/** A tool call that has ended, from its hook. */
export type EndedToolCall = After<ToolCallContext, "result", ToolResult>;

/** The value of `error.type` for a failed result or a refused call. */
const TOOL_ERROR = "tool_error";

/**
 * The spans and metrics of tool calls. A span begins with the tool. It ends with the event of the
 * call, which has the outcome. Calls that did not reach the tool have only an event. Examples are
 * an unknown name, invalid input and a refusal.
 */
export class ToolSpans {
  constructor(readonly tracing: Tracing) {}

  begin(run: RunTrace, { call, tool, taskId, parentTaskId, agentRole }: ToolCallContext): void {
    const { captureContent } = this.tracing;
    const open = begin(run, {
      parent: run.contextOf(taskId, parentTaskId),
      name: `${OPERATIONS.tool} ${tool.name}`,
      attributes: {
        ...this.#attributes(run, tool.name, agentRole, taskId),
        [ATTRIBUTES.toolCallId]: call.id,
        ...(captureContent && { [ATTRIBUTES.toolArguments]: run.redact(call.arguments) }),
      },
    });
    run.task(taskId)?.toolCalls.push(call, { ...open, call, children: 0, end: undefined });
  }

  /** Called when the tool has ended. Its event follows. */
  settle(run: RunTrace, { taskId, call, outcome, error, result }: EndedToolCall): void {
    const open = run
      .task(taskId)
      ?.toolCalls.values()
      .find((o) => o.call === call && o.end === undefined);
    if (open === undefined) return;
    const text =
      result === undefined ? "" : result.ok ? result.output : (result.errorMessage ?? "");
    open.end = { atMs: run.clock.ms(), error, failed: result?.ok === false, text };
    if (outcome !== "ok") open.span.setAttribute(ATTRIBUTES.outcome, outcome);
  }

  told(run: RunTrace, e: Ev<"tool_called">): void {
    const task = run.task(e.taskId);
    const settled = task?.toolCalls
      .values()
      .find(
        (o) =>
          o.end !== undefined && o.call.name === e.toolName && o.call.arguments === e.toolArguments,
      );
    if (settled === undefined) {
      this.#refused(run, e);
      return;
    }
    task?.toolCalls.remove(settled.call, settled);
    this.#finish(run, settled, e);
  }

  #finish(run: RunTrace, { span, startedMs, end }: OpenToolCall, e: Ev<"tool_called">): void {
    const { captureContent, instruments } = this.tracing;
    const { atMs = run.clock.ms(), error, failed = false, text = "" } = end ?? {};
    const at = run.clock.instant(atMs);
    if (captureContent && text !== "") span.setAttribute(ATTRIBUTES.toolResult, run.redact(text));
    if (error !== undefined) noteError(run, span, error, at);
    const isFailure = error === undefined && (failed || e.outcome === "FAILURE");
    if (isFailure) this.#markFailed(span);
    span.end(at);
    const type = isFailure ? { [ATTRIBUTES.errorType]: TOOL_ERROR } : errorAttribute(error);
    instruments.tool(atMs - startedMs, { ...this.#metricAttributes(e), ...type });
  }

  #refused(run: RunTrace, e: Ev<"tool_called">): void {
    const { captureContent } = this.tracing;
    const endedMs = run.clock.ms();
    const attributes = {
      ...this.#attributes(run, e.toolName, e.agentRole, e.taskId),
      [ATTRIBUTES.outcome]: e.outcome === "SUCCESS" ? "answered" : "rejected",
      ...(captureContent && {
        [ATTRIBUTES.toolArguments]: run.redact(e.toolArguments),
        [ATTRIBUTES.toolResult]: run.redact(e.toolResult),
      }),
    };
    const { span } = begin(run, {
      parent: run.contextOf(e.taskId, e.parentTaskId),
      name: `${OPERATIONS.tool} ${e.toolName}`,
      attributes,
      startedMs: endedMs - e.durationMs,
    });
    if (e.outcome === "FAILURE") this.#markFailed(span);
    span.end(run.clock.instant(endedMs));
  }

  #markFailed(span: OpenToolCall["span"]): void {
    span.setAttribute(ATTRIBUTES.errorType, TOOL_ERROR);
    span.setStatus({ code: this.tracing.api.SpanStatusCode.ERROR });
  }

  #attributes(run: RunTrace, toolName: string, agentRole: string, taskId: string): Attributes {
    return {
      [ATTRIBUTES.operation]: OPERATIONS.tool,
      [ATTRIBUTES.toolName]: toolName,
      [ATTRIBUTES.toolType]: "function",
      [ATTRIBUTES.agentName]: agentRole,
      [ATTRIBUTES.runId]: run.started.runId,
      [ATTRIBUTES.taskId]: taskId,
    };
  }

  #metricAttributes(e: Ev<"tool_called">): Attributes {
    return {
      [ATTRIBUTES.toolName]: e.toolName,
      [ATTRIBUTES.agentName]: e.agentRole,
      [ATTRIBUTES.toolType]: "function",
    };
  }
}
