import type { ToolCall } from "../contracts/chat-model.js";
import type { ToolCallContext } from "../contracts/hooks.js";
import type { ReviewDecision } from "../contracts/review.js";
import type { AnyTool, ToolContext } from "../contracts/tool.js";
import type { ToolOutcome } from "../contracts/trace.js";
import type { Outcome } from "../contracts/usage.js";
import type { Firing } from "./hook-point.js";
import type { GatewayScope } from "./task-scope.js";
import {
  ExitEarlySignal,
  TaskTimeoutError,
  ToolConfigurationError,
  ToolExecutionError,
  messageOf,
  toError,
} from "../contracts/errors.js";
import { ReviewTimeoutError } from "../contracts/state-errors.js";
import { noReviewer } from "../contracts/review.js";
import { Tokens } from "../contracts/tokens.js";
import { ToolResult } from "../contracts/tool.js";
import { knownNames } from "../contracts/validation.js";
import { Cancellation, settleWithin } from "./cancellation.js";
import { fireAfter, fireBefore } from "./firing.js";
import { isThenable } from "./hook-point.js";
import type { Checked } from "./schema.js";
import { PlainSchemas } from "./plain-schema.js";
import { checkAtOnce, isValidating } from "./schema.js";

/**
 * The gateway of all tool calls: finds the tool, checks the input, fires the hook pair, keeps time and record.
 * A refusal is a failed result.
 * @throws ToolExecutionError when the tool threw or took too long; ToolConfigurationError, ExitEarlySignal and the run's reason as they are.
 */
export async function callTool(
  scope: GatewayScope,
  call: ToolCall,
  tools: readonly AnyTool[],
): Promise<ToolResult> {
  if (scope.cancellation.reason !== undefined) throw scope.cancellation.reason;
  const startedMs = scope.engine.clock.monotonicMs();
  const tool = tools.find((t) => t.name === call.name);
  if (tool === undefined) {
    const names = tools.map((t) => t.name);
    return finish(
      scope,
      call,
      startedMs,
      "FAILURE",
      ToolResult.failure(`Unknown tool '${call.name}'. ${knownNames(call.name, names)}`),
    );
  }
  let input: Checked;
  try {
    const read = readInput(tool, call.arguments, schemasOf(scope));
    input = read instanceof Promise ? await read : read;
  } catch (error) {
    return fail(scope, call, startedMs, error, false);
  }
  if (!input.ok)
    return finish(
      scope,
      call,
      startedMs,
      "FAILURE",
      ToolResult.failure(`Invalid input for tool '${tool.name}': ${input.problem}`),
    );
  return guarded(scope, call, tool, input.value, startedMs);
}

/** A call on its way through its hooks. */
interface CallState {
  payload: ToolCallContext;
  outcome: Outcome;
  result: ToolResult | undefined;
  failure: unknown;
  /** Whether it is a hook that failed, and not the tool: that is no business of the model's. */
  hookFailed: boolean;
}

async function guarded(
  scope: GatewayScope,
  call: ToolCall,
  tool: AnyTool,
  input: unknown,
  startedMs: number,
): Promise<ToolResult> {
  const { points, info } = scope.engine;
  const { taskId, agentRole, parentTaskId, attempt } = scope.record;
  const payload = {
    run: info,
    taskId,
    agentRole,
    tool,
    call,
    input,
    parentTaskId,
    attempt,
    signal: scope.signal,
  };
  const state: CallState = {
    payload,
    outcome: "ok",
    result: undefined,
    failure: undefined,
    hookFailed: false,
  };
  try {
    if (points.beforeToolCall.used) {
      const judged = before(scope, state);
      if (judged instanceof Promise) await judged;
    }
    if (state.result === undefined) {
      const executed = execute(scope, call, tool, state.payload.input);
      state.result = executed instanceof Promise ? await executed : executed;
    }
  } catch (error) {
    state.outcome =
      scope.cancellation.reason !== undefined || ExitEarlySignal.isInstance(error)
        ? "aborted"
        : "failed";
    state.failure = error;
    if (ToolExecutionError.isInstance(error))
      [state.hookFailed, state.failure] = [false, error.cause ?? error]; // a tap that answers for the tool tells of its failure this way
  }
  if (points.afterToolCall.used) {
    try {
      await after(scope, state);
    } catch (error) {
      keep(scope, call, startedMs, "ERROR", `Tool error: ${messageOf(error)}`, undefined); // the tool may have run
      throw error;
    }
  }
  const { outcome, result, failure, hookFailed } = state;
  if (result !== undefined)
    return finish(
      scope,
      call,
      startedMs,
      outcome === "rejected" ? "REJECTED" : result.ok ? "SUCCESS" : "FAILURE",
      result,
    );
  return fail(scope, call, startedMs, failure, hookFailed);
}

/** Fires the before hook; a promise only where a tap gives one. */
function before(scope: GatewayScope, state: CallState): void | Promise<void> {
  const { points, warn } = scope.engine;
  state.hookFailed = true;
  // A changed input is checked before the policies judge it, so that what they see is what the tool gets.
  const fired = fireBefore(points.beforeToolCall, state.payload, warn, (changed) =>
    recheck(scope, state, changed),
  );
  return fired instanceof Promise
    ? fired.then((firing) => judged(scope, state, firing))
    : judged(scope, state, fired);
}

async function recheck(
  scope: GatewayScope,
  state: CallState,
  changed: ToolCallContext,
): Promise<ToolCallContext | undefined> {
  const { tool } = state.payload;
  const checked = await checkInput(tool, changed.input, schemasOf(scope));
  if (checked.ok) return { ...changed, input: checked.value };
  [state.outcome, state.result] = [
    "rejected",
    ToolResult.failure(`Invalid input for tool '${tool.name}': ${checked.problem}`),
  ];
  return undefined;
}

/** What the taps have said. @throws the reason of a stop: a tap may have waited long. */
function judged(scope: GatewayScope, state: CallState, firing: Firing<ToolCallContext>): void {
  state.hookFailed = false;
  state.payload = firing.call;
  if (state.result !== undefined) return;
  if (firing.rejection !== undefined)
    [state.outcome, state.result] = ["rejected", ToolResult.failure(reasonOf(firing.rejection))];
  else if (scope.cancellation.reason !== undefined) throw scope.cancellation.reason;
  else if (firing.verdict?.verb === "answer")
    [state.outcome, state.result] = ["answered", toResult(firing.verdict.value)];
}

async function after(scope: GatewayScope, state: CallState): Promise<void> {
  const { points, warn } = scope.engine;
  const { payload, outcome, result, failure } = state;
  const settled =
    outcome === "ok" || outcome === "answered"
      ? { outcome, result, ...payload }
      : { outcome, error: toError(failure ?? new Error(result?.errorMessage)), ...payload };
  const firing = await fireAfter(points.afterToolCall, settled, warn);
  if (firing.rejection !== undefined)
    [state.outcome, state.result] = ["rejected", ToolResult.failure(reasonOf(firing.rejection))];
  else if (outcome === "ok" || outcome === "answered")
    state.result = toResult((firing.call as { readonly result: unknown }).result); // replaced by a tap, or as it was
  if (firing.exit !== undefined) throw firing.exit;
}

/** The text of a tool's answer to the model when a tap said no: the reason itself. */
function reasonOf(error: Error): string {
  return (error as { readonly reason?: string }).reason ?? error.message;
}

/** Runs the tool; a promise only where it gives one. */
function execute(
  scope: GatewayScope,
  call: ToolCall,
  tool: AnyTool,
  input: unknown,
): ToolResult | Promise<ToolResult> {
  const { limits } = scope.engine;
  const timeoutMs = tool.timeoutMs ?? (tool.delegates === true ? undefined : limits.toolTimeoutMs); // work that is handed on has limits of its own
  const cancellation =
    timeoutMs === undefined
      ? scope.cancellation
      : new Cancellation(scope.cancellation).expire(
          timeoutMs,
          () => new TaskTimeoutError(`Tool '${tool.name}'`, timeoutMs),
        );
  const end = (): void => {
    if (cancellation !== scope.cancellation) cancellation.dispose();
  };
  try {
    const returned = tool.execute(
      input,
      new CallContext(scope, cancellation.signal, call.id, tool.name),
    );
    if (isThenable(returned))
      return settled(
        returned,
        cancellation,
        timeoutMs === undefined ? limits.graceMs * 0.8 : 0,
        end,
      );
    const result = toResult(returned);
    end();
    return result;
  } catch (error) {
    end();
    throw cancellation.reason ?? error; // whatever the tool makes of its signal
  }
}

async function settled(
  returned: PromiseLike<unknown>,
  cancellation: Cancellation,
  graceMs: number,
  end: () => void,
): Promise<ToolResult> {
  try {
    return toResult(await settleWithin(returned, cancellation, graceMs));
  } catch (error) {
    throw cancellation.reason ?? error;
  } finally {
    end();
  }
}

type ApprovalRequest = Parameters<ToolContext["requestApproval"]>[0];

/** What a tool gets beside its input. */
class CallContext implements ToolContext {
  readonly runId: string;
  readonly taskId: string;
  readonly agentRole: string;
  readonly #toolName: string;

  constructor(
    readonly scope: GatewayScope,
    readonly signal: AbortSignal,
    readonly toolCallId: string,
    toolName: string,
  ) {
    this.runId = scope.run.id;
    this.taskId = scope.taskId;
    this.agentRole = scope.record.agentRole;
    this.#toolName = toolName;
  }

  async requestApproval({ description, ...options }: ApprovalRequest): Promise<ReviewDecision> {
    const { scope, signal } = this;
    const { run, record } = scope;
    const gate = scope.engine.settings.find(Tokens.ReviewGate);
    if (gate === undefined || !gate.hasHandler(run)) throw noReviewer(this.#toolName);
    const { taskId, parentTaskId, agentRole, attempt } = record;
    return gate.ask(
      {
        ...options,
        timing: "DURING_EXECUTION",
        taskDescription: description,
        taskOutput: "",
        key: `${this.#toolName}:${this.toolCallId}`,
      },
      { run, taskId, parentTaskId, agentRole, attempt, signal },
    );
  }
}

/** What a tool returned, as a result. @throws where an object has no JSON. */
function toResult(returned: unknown): ToolResult {
  if (returned === undefined || returned === null) return ToolResult.success("");
  if (typeof returned === "string") return ToolResult.success(returned);
  if (ToolResult.isInstance(returned)) return returned;
  return ToolResult.success(JSON.stringify(returned) ?? "", returned);
}

function schemasOf({ engine }: GatewayScope): PlainSchemas {
  return engine.settings.kernel.plainSchemas;
}

function readInput(tool: AnyTool, text: string, schemas: PlainSchemas): Checked | Promise<Checked> {
  let value: unknown;
  try {
    value = text.trim() === "" ? {} : JSON.parse(text, SUSPECT.test(text) ? refuseKeys : undefined);
  } catch (error) {
    if (tool.input === undefined) return { ok: true, value: text };
    return { ok: false, problem: `the arguments are not valid JSON: ${messageOf(error)}` };
  }
  if (tool.input !== undefined) return checkInput(tool, value, schemas);
  const field =
    typeof value === "object" && value !== null
      ? (value as { readonly input?: unknown }).input
      : undefined;
  if (field === undefined) return { ok: true, value: text };
  return { ok: true, value: typeof field === "string" ? field : JSON.stringify(field) };
}

/** Text that may hold a key to refuse, spelled out or escaped. Looking at every key of every call takes longer than the rest of it. */
const SUSPECT = /__proto__|constructor|prototype|\\u/;

function refuseKeys(key: string, value: unknown): unknown {
  if (key === "__proto__" || key === "constructor" || key === "prototype")
    throw new Error(`the key '${key}' is not allowed`);
  return value;
}

/** Input against the tool's schema. @throws ToolConfigurationError for plain JSON Schema that can't be read. */
export async function checkToolInput(tool: AnyTool, value: unknown): Promise<Checked> {
  return checkInput(tool, value, new PlainSchemas());
}

/** As {@link checkToolInput}; a promise only where the schema gives one. */
function checkInput(
  tool: AnyTool,
  value: unknown,
  schemas: PlainSchemas,
): Checked | Promise<Checked> {
  const schema = tool.input;
  if (schema === undefined)
    return typeof value === "string"
      ? { ok: true, value }
      : { ok: false, problem: "expected a string" };
  if (isValidating(schema)) return checkAtOnce(schema, value);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { ok: false, problem: "expected a JSON object" };
  const required = (schema as { readonly required?: unknown }).required;
  const missing = Array.isArray(required)
    ? required.filter((name) => typeof name === "string" && !Object.hasOwn(value, name))
    : [];
  return missing.length === 0
    ? schemas.check(tool.name, schema, value)
    : { ok: false, problem: `missing required parameter(s): ${missing.join(", ")}` };
}

function finish(
  scope: GatewayScope,
  call: ToolCall,
  startedMs: number,
  outcome: ToolOutcome,
  result: ToolResult,
): ToolResult {
  keep(
    scope,
    call,
    startedMs,
    outcome,
    result.ok ? result.output : `Error: ${result.errorMessage ?? ""}`,
    result.structured,
  );
  return result;
}

function fail(
  scope: GatewayScope,
  call: ToolCall,
  startedMs: number,
  failure: unknown,
  hookFailed: boolean,
): never {
  const { reason } = scope.cancellation;
  const stopped = reason !== undefined || ExitEarlySignal.isInstance(failure);
  keep(
    scope,
    call,
    startedMs,
    stopped ? "CANCELLED" : TaskTimeoutError.isInstance(failure) ? "TIMED_OUT" : "ERROR",
    `Tool error: ${messageOf(failure)}`,
    undefined,
  );
  // A model can't mend a configuration, and a question that is to fail when nobody answers is no model's to pass over.
  if (
    stopped ||
    hookFailed ||
    ToolConfigurationError.isInstance(failure) ||
    ReviewTimeoutError.isInstance(failure)
  )
    throw reason ?? toError(failure);
  throw new ToolExecutionError(
    `Tool '${call.name}' failed: ${messageOf(failure)}`,
    { toolName: call.name, toolInput: call.arguments },
    { cause: failure },
  );
}

function keep(
  scope: GatewayScope,
  call: ToolCall,
  startedMs: number,
  outcome: ToolOutcome,
  text: string,
  structured: unknown,
): void {
  const endedMs = scope.engine.clock.monotonicMs();
  scope.record.addTool({
    toolName: call.name,
    arguments: call.arguments,
    result: text,
    structured,
    startedMs,
    endedMs,
    outcome,
  });
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
