import { partLines } from "../util/part-line.js";
import type { TraceFields } from "./trace-fields.js";

/** A cost in a trace. */
export interface Cost {
  readonly amount: number;
  readonly currency: string;
  /** Whether calls without a known price are omitted. */
  readonly atLeast: boolean;
}

/** Tokens and cost. -1 and `null` if they are unknown. */
export interface SpentInTrace {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: Cost | null;
}

/** A tool call, for display by commands. */
export interface ToolView {
  readonly tool: string;
  readonly arguments: string;
  readonly result: string;
  /** Images and files of the result, one line each. */
  readonly parts: readonly string[];
  readonly outcome: string;
  readonly durationMs: number;
}

/** A model call with one attempt. */
export interface CallView extends SpentInTrace {
  readonly model: string;
  readonly purpose: string;
  readonly attempt: number;
  readonly durationMs: number;
  readonly responseType: string;
  readonly responseText: string;
  readonly error: string | null;
  readonly tools: readonly ToolView[];
}

/** Work that was delegated to another agent. */
export interface DelegationView {
  /** `task`, `tool` or `handoff`. */
  readonly mode: string;
  readonly from: string;
  readonly to: string;
  readonly description: string;
  readonly succeeded: boolean;
  readonly result: string;
  readonly durationMs: number;
  /** `null` also if the worker is a task of the run: the task with the id `workerTaskId`. */
  readonly worker: TaskView | null;
  readonly workerTaskId: string | null;
}

/** One attempt of a task. */
export interface TaskView extends SpentInTrace {
  readonly taskId: string;
  readonly attempt: number;
  readonly agentRole: string;
  readonly description: string;
  readonly outcome: string;
  readonly durationMs: number;
  readonly output: string | null;
  readonly prompts: { readonly system: string; readonly user: string } | null;
  readonly calls: readonly CallView[];
  /** The tools of a task without a model call. */
  readonly tools: readonly ToolView[];
  readonly delegations: readonly DelegationView[];
}

export interface ErrorView {
  readonly taskId: string | null;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
}

/** A trace, for display by commands. Fields that files of older writers lack are unknown. */
export interface TraceView extends SpentInTrace {
  readonly runId: string;
  readonly workflow: string;
  readonly exitReason: string;
  /** The inputs as the trace contains them. */
  readonly inputs: unknown;
  readonly captureMode: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly tasks: readonly TaskView[];
  readonly errors: readonly ErrorView[];
}

/**
 * Reads metrics, by the field names of this package or of the trace format (`totalInputTokens`). If
 * all summands are unknown, the sum is unknown.
 */
function spentOf(metrics: TraceFields | undefined, currency: string): SpentInTrace {
  const unknownCalls = metrics?.number("unknownUsageCalls", 0) ?? 0;
  const tokens = (name: string, total: string): number => {
    const sum = metrics?.number(name, metrics.number(total, -1)) ?? -1;
    return sum === 0 && unknownCalls > 0 ? -1 : sum;
  };
  return {
    inputTokens: tokens("inputTokens", "totalInputTokens"),
    outputTokens: tokens("outputTokens", "totalOutputTokens"),
    cost: estimateOf(metrics, currency),
  };
}

/**
 * Reads the estimate in metrics, by the field name of this package or of the trace format. Some
 * writers store a number, in the currency of the run.
 */
function estimateOf(metrics: TraceFields | undefined, currency: string): Cost | null {
  const name = metrics?.raw("costEstimate") === undefined ? "totalCostEstimate" : "costEstimate";
  const value = metrics?.raw(name);
  if (typeof value === "number") return { amount: value, currency, atLeast: false };
  const estimate = value === undefined ? undefined : metrics?.object(name);
  const amount = estimate?.number("totalCost", Number.NaN) ?? Number.NaN;
  if (estimate === undefined || Number.isNaN(amount)) return null;
  const atLeast = estimate.number("unpricedCalls", 0) > 0;
  return { amount, currency: estimate.text("currency") || currency, atLeast };
}

/**
 * Returns the currency of a trace, because its model calls do not contain it. It is the currency of
 * the costs of the run, or of its first task with costs.
 */
function currencyOf(trace: TraceFields): string {
  const metrics = [trace, ...trace.list("taskTraces")].map((part) => part.object("metrics"));
  const costs = metrics.map((part) => estimateOf(part, ""));
  return costs.find((cost) => cost !== null && cost.currency !== "")?.currency ?? "";
}

function toolView(tool: TraceFields): ToolView {
  return {
    tool: tool.text("toolName"),
    arguments: tool.text("arguments"),
    result: tool.text("result"),
    parts: partLines(tool.raw("parts")),
    outcome: tool.text("outcome"),
    durationMs: tool.duration("duration"),
  };
}

function callView(call: TraceFields, currency: string): CallView {
  const cost = call.raw("cost");
  const [provider, model] = [call.text("provider"), call.text("modelId")];
  return {
    model: provider === "" ? model : `${provider}:${model}`,
    purpose: call.text("purpose"),
    attempt: call.number("attempt", 1),
    durationMs: call.duration("latency"),
    inputTokens: call.number("inputTokens", -1),
    outputTokens: call.number("outputTokens", -1),
    cost: typeof cost === "number" ? { amount: cost, currency, atLeast: false } : null,
    responseType: call.text("responseType"),
    responseText: call.text("responseText"),
    error: call.optionalText("error") ?? null,
    tools: call.list("toolCalls").map(toolView),
  };
}

function delegationView(delegation: TraceFields, currency: string): DelegationView {
  const worker = delegation.object("workerTrace");
  return {
    mode: delegation.optionalText("mode") ?? "task",
    from: delegation.text("delegatorRole"),
    to: delegation.text("workerRole"),
    description: delegation.text("taskDescription"),
    succeeded: delegation.flag("succeeded") ?? true,
    result: delegation.text("result"),
    durationMs: delegation.duration("duration"),
    workerTaskId: delegation.optionalText("workerTaskId") ?? null,
    worker: worker === undefined ? null : taskView(worker, 0, currency),
  };
}

/**
 * Returns the view of a task. A task without an id is numbered in the same way as tasks of the
 * framework.
 */
function taskView(task: TraceFields, index: number, currency: string): TaskView {
  const output = task.optionalText("finalOutput") ?? null;
  const prompts = task.object("prompts");
  return {
    taskId: task.optionalText("taskId") ?? `task-${index + 1}`,
    attempt: task.number("attempt", 1),
    agentRole: task.text("agentRole"),
    description: task.text("taskDescription"),
    outcome: task.optionalText("outcome") ?? (output === null ? "failed" : "ok"),
    durationMs: task.duration("duration"),
    output,
    prompts:
      prompts === undefined
        ? null
        : {
            system: prompts.text("systemPrompt"),
            user: [prompts.text("userPrompt"), ...partLines(prompts.raw("parts"))].join("\n"),
          },
    ...spentOf(task.object("metrics"), currency),
    calls: task.list("llmInteractions").map((call) => callView(call, currency)),
    tools: task.list("toolCalls").map(toolView),
    delegations: task.list("delegations").map((part) => delegationView(part, currency)),
  };
}

function errorView(error: TraceFields): ErrorView {
  return {
    taskId: error.optionalText("taskId") ?? null,
    type: error.text("errorType"),
    code: error.optionalText("code") ?? null,
    message: error.text("message"),
  };
}

/** @throws MisshapenTrace */
export function traceView(trace: TraceFields): TraceView {
  const currency = currencyOf(trace);
  return {
    runId: trace.text("ensembleId"),
    workflow: trace.text("workflow"),
    exitReason: trace.text("exitReason"),
    inputs: trace.raw("inputs") ?? {},
    captureMode: trace.text("captureMode"),
    startedAt: trace.text("startedAt"),
    durationMs: trace.duration("totalDuration"),
    ...spentOf(trace.object("metrics"), currency),
    tasks: trace.list("taskTraces").map((task, i) => taskView(task, i, currency)),
    errors: trace.list("errors").map(errorView),
  };
}
