import type { ToolCall } from "../contracts/chat-model.js";
import type { ToolCallContext } from "../contracts/hooks.js";
import type { AnyTool, ToolContext } from "../contracts/tool.js";
import type { ToolOutcome } from "../contracts/trace.js";
import type { Outcome } from "../contracts/usage.js";
import type { GatewayScope } from "./task-scope.js";
import { ExitEarlySignal, TaskTimeoutError, ToolConfigurationError, ToolExecutionError, messageOf, toError } from "../contracts/errors.js";
import { ToolResult } from "../contracts/tool.js";
import { knownNames } from "../contracts/validation.js";
import { Cancellation, settleWithin } from "./cancellation.js";
import { fireAfter, fireBefore } from "./firing.js";
import { checkValue, isValidating } from "./schema.js";

type Input = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/**
 * The gateway of all tool calls: finds the tool, checks the input, fires the hook pair, keeps time and record.
 * A refusal is a failed result.
 * @throws ToolExecutionError when the tool threw or took too long; ToolConfigurationError, ExitEarlySignal and the run's reason as they are.
 */
export async function callTool(scope: GatewayScope, call: ToolCall, tools: readonly AnyTool[]): Promise<ToolResult> {
  if (scope.cancellation.reason !== undefined) throw scope.cancellation.reason;
  const startedMs = scope.engine.clock.monotonicMs();
  const tool = tools.find((t) => t.name === call.name);
  if (tool === undefined) {
    const names = tools.map((t) => t.name);
    return finish(scope, call, startedMs, "FAILURE", ToolResult.failure(`Unknown tool '${call.name}'. ${knownNames(call.name, names)}`));
  }
  const input = await readInput(tool, call.arguments);
  if (!input.ok) return finish(scope, call, startedMs, "FAILURE", ToolResult.failure(`Invalid input for tool '${tool.name}': ${input.problem}`));
  return guarded(scope, call, tool, input.value, startedMs);
}

async function guarded(scope: GatewayScope, call: ToolCall, tool: AnyTool, value: unknown, startedMs: number): Promise<ToolResult> {
  const { points, warn, info } = scope.engine;
  let payload: ToolCallContext | undefined;
  let input = value;
  let outcome: Outcome = "ok";
  let result: ToolResult | undefined;
  let failure: unknown;
  if (points.beforeToolCall.used || points.afterToolCall.used) {
    payload = { run: info, taskId: scope.taskId, agentRole: scope.record.agentRole, tool, call, input };
  }
  try {
    if (payload !== undefined && points.beforeToolCall.used) {
      const firing = await fireBefore(points.beforeToolCall, payload, warn);
      payload = firing.call;
      if (firing.rejection !== undefined) {
        outcome = "rejected";
        result = ToolResult.failure(reasonOf(firing.rejection));
      } else if (firing.verdict?.verb === "answer") {
        outcome = "answered";
        result = toResult(firing.verdict.value);
      } else if (firing.replaced) {
        const checked = await checkInput(tool, payload.input);
        if (checked.ok) input = checked.value;
        else [outcome, result] = ["rejected", ToolResult.failure(`Invalid input for tool '${tool.name}': ${checked.problem}`)];
      }
    }
    result ??= await execute(scope, call, tool, input);
  } catch (error) {
    outcome = scope.cancellation.reason !== undefined || ExitEarlySignal.isInstance(error) ? "aborted" : "failed";
    failure = error;
  }
  if (payload !== undefined && points.afterToolCall.used) {
    const settled = outcome === "ok" || outcome === "answered" ? { ...payload, outcome, result } : { ...payload, outcome, error: toError(failure ?? new Error(result?.errorMessage)) };
    const firing = await fireAfter(points.afterToolCall, settled, warn);
    if (firing.rejection !== undefined) [outcome, result] = ["rejected", ToolResult.failure(reasonOf(firing.rejection))];
    else if (firing.replaced) result = toResult((firing.call as { readonly result: unknown }).result); // replaced by a tap
  }
  if (result !== undefined) return finish(scope, call, startedMs, outcome === "rejected" ? "REJECTED" : result.ok ? "SUCCESS" : "FAILURE", result);
  return fail(scope, call, startedMs, failure);
}

/** The text of a tool's answer to the model when a tap said no: the reason itself. */
function reasonOf(error: Error): string {
  return (error as { readonly reason?: string }).reason ?? error.message;
}

async function execute(scope: GatewayScope, call: ToolCall, tool: AnyTool, input: unknown): Promise<ToolResult> {
  const { engine } = scope;
  const { timeoutMs } = tool;
  const cancellation =
    timeoutMs === undefined ? scope.cancellation : new Cancellation(scope.cancellation).expire(timeoutMs, () => new TaskTimeoutError(`Tool '${tool.name}'`, timeoutMs));
  const context: ToolContext = {
    scope,
    signal: cancellation.signal,
    runId: engine.info.id,
    taskId: scope.taskId,
    agentRole: scope.record.agentRole,
    toolCallId: call.id,
  };
  try {
    const returned = tool.execute(input, context);
    const grace = timeoutMs === undefined ? engine.limits.graceMs * 0.8 : 0;
    return toResult(returned instanceof Promise ? await settleWithin(returned, cancellation, grace) : await returned);
  } finally {
    if (timeoutMs !== undefined) cancellation.dispose();
  }
}

/** What a tool returned, as a result. @throws where an object has no JSON. */
export function toResult(returned: unknown): ToolResult {
  if (returned === undefined || returned === null) return ToolResult.success("");
  if (typeof returned === "string") return ToolResult.success(returned);
  if (ToolResult.isInstance(returned)) return returned;
  return ToolResult.success(JSON.stringify(returned) ?? "", returned);
}

async function readInput(tool: AnyTool, text: string): Promise<Input> {
  let value: unknown;
  try {
    value = text.trim() === "" ? {} : JSON.parse(text, refuseKeys);
  } catch (error) {
    if (tool.input === undefined) return { ok: true, value: text };
    return { ok: false, problem: `the arguments are not valid JSON: ${messageOf(error)}` };
  }
  if (tool.input !== undefined) return checkInput(tool, value);
  const field = typeof value === "object" && value !== null ? (value as { readonly input?: unknown }).input : undefined;
  if (field === undefined) return { ok: true, value: text };
  return { ok: true, value: typeof field === "string" ? field : JSON.stringify(field) };
}

function refuseKeys(key: string, value: unknown): unknown {
  if (key === "__proto__" || key === "constructor" || key === "prototype") throw new Error(`the key '${key}' is not allowed`);
  return value;
}

/** Input against the tool's schema; of plain JSON Schema only the required names are checked, the rest is the tool's own. */
async function checkInput(tool: AnyTool, value: unknown): Promise<Input> {
  const schema = tool.input;
  if (schema === undefined) return typeof value === "string" ? { ok: true, value } : { ok: false, problem: "expected a string" };
  if (isValidating(schema)) return checkValue(schema, value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { ok: false, problem: "expected a JSON object" };
  const required = (schema as { readonly required?: unknown }).required;
  const missing = Array.isArray(required) ? required.filter((name) => typeof name === "string" && !Object.hasOwn(value, name)) : [];
  return missing.length === 0 ? { ok: true, value } : { ok: false, problem: `missing required parameter(s): ${missing.join(", ")}` };
}

function finish(scope: GatewayScope, call: ToolCall, startedMs: number, outcome: ToolOutcome, result: ToolResult): ToolResult {
  keep(scope, call, startedMs, outcome, result.ok ? result.output : `Error: ${result.errorMessage ?? ""}`, result.structured);
  return result;
}

function fail(scope: GatewayScope, call: ToolCall, startedMs: number, failure: unknown): never {
  const { reason } = scope.cancellation;
  const passes = reason !== undefined || ExitEarlySignal.isInstance(failure) || ToolConfigurationError.isInstance(failure);
  const outcome = TaskTimeoutError.isInstance(failure) && reason === undefined ? "TIMED_OUT" : passes ? "CANCELLED" : "ERROR";
  keep(scope, call, startedMs, outcome, `Tool error: ${messageOf(failure)}`, undefined);
  if (passes) throw reason ?? (failure as Error);
  throw new ToolExecutionError(`Tool '${call.name}' failed: ${messageOf(failure)}`, { toolName: call.name, toolInput: call.arguments }, { cause: failure });
}

function keep(scope: GatewayScope, call: ToolCall, startedMs: number, outcome: ToolOutcome, text: string, structured: unknown): void {
  const endedMs = scope.engine.clock.monotonicMs();
  scope.record.addTool({ toolName: call.name, arguments: call.arguments, result: text, structured, startedMs, endedMs, outcome });
  if (!scope.listens("tool_called")) return;
  scope.emit({
    type: "tool_called",
    ...scope.identity,
    taskIndex: scope.taskIndex,
    toolName: call.name,
    toolArguments: call.arguments,
    toolResult: text,
    structuredResult: structured,
    durationMs: endedMs - startedMs,
    outcome: outcome === "SUCCESS" ? "SUCCESS" : "FAILURE",
  });
}
