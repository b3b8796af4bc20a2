import type { AnyTool, ToolContext, ToolReturn } from "../../../contracts/tool.js";
import type { OutputSchema } from "../../../contracts/types.js";
import { ToolConfigurationError, ToolExecutionError, endsRun } from "../../../contracts/errors.js";
import { ReviewUnavailableError } from "../../../contracts/state-errors.js";
import { ToolResult } from "../../../contracts/tool.js";
import { parseText, isValidating } from "../../../util/schema/standard-schema.js";

import { isObject } from "../../../util/objects.js";
import { messageOf } from "../../../util/errors.js";

/** What a step says when it threw; an error without a message has the default text of a failed result. */
function threw(tool: AnyTool, error: unknown): ToolResult {
  return ToolResult.failure(
    error instanceof Error && error.message === ""
      ? ""
      : `Step '${tool.name}' threw: ${messageOf(error)}`,
  );
}

/** A step that also ends with the pipeline's own time limit, which is not the gateway's: that one knows the task and the step. */
function tiedTo(signal: AbortSignal, tool: AnyTool): AnyTool {
  const { needsApproval, approvalDescription, approvalRejection, effectOf } = tool;
  // The type demands every field that a tool has: one that is added later can't be forgotten here.
  const tied: { readonly [K in keyof Required<AnyTool>]: AnyTool[K] } = {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    input: tool.input,
    private: tool.private,
    sequential: tool.sequential,
    timeoutMs: tool.timeoutMs,
    requireApproval: tool.requireApproval,
    needsApproval:
      needsApproval === undefined ? undefined : (input) => needsApproval.call(tool, input),
    approvalDescription:
      approvalDescription === undefined
        ? undefined
        : (input) => approvalDescription.call(tool, input),
    approvalRejection:
      approvalRejection === undefined ? undefined : (input) => approvalRejection.call(tool, input),
    untrusted: tool.untrusted,
    effect: tool.effect,
    effectOf: effectOf === undefined ? undefined : (input) => effectOf.call(tool, input),
    replay: tool.replay,
    resume: tool.resume,
    delegates: tool.delegates,
    execute: (input, ctx) =>
      tool.execute(
        input,
        contextWith(
          ctx.signal === ctx.scope.signal ? signal : AbortSignal.any([signal, ctx.signal]),
          ctx,
        ),
      ),
  };
  return tied as AnyTool; // four absent methods are there as `undefined`, which readers of a tool can't tell from absence
}

function contextWith(signal: AbortSignal, ctx: ToolContext): ToolContext {
  const { agentRole, idempotencyKey, runId, scope, taskId, toolCallId } = ctx;
  return {
    agentRole,
    idempotencyKey,
    runId,
    scope,
    signal,
    taskId,
    toolCallId,
    requestApproval: (o) => ctx.requestApproval(o),
  };
}

/**
 * Calls one step through the framework's gateway: its schema, hooks, approval, time limit, record and events are those of any call. `text` is its
 * argument, or the JSON of its arguments where it has a schema. Outside a run the step is called at once, after its schema.
 * A step that threw is a failed result. @throws what ends more than the step: cancellation, wrong configuration, an early exit, a failed hook
 */
export async function callStep(
  tool: AnyTool,
  text: string,
  place: number,
  ctx: ToolContext | undefined,
): Promise<ToolResult> {
  if (ctx?.scope === undefined) return callAlone(tool, text, ctx);
  const { scope } = ctx;
  const step = ctx.signal === scope.signal ? tool : tiedTo(ctx.signal, tool);
  const call = {
    id: `${ctx.toolCallId}.${place}`,
    name: tool.name,
    arguments: tool.input === undefined ? JSON.stringify({ input: text }) : text,
  };
  try {
    return await scope.callTool(call, [step]);
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (ToolExecutionError.isInstance(error)) return threw(tool, error.cause ?? error);
    throw endsTheTask(error);
  }
}

/** What is no failure of the step's work, such as a broken hook, fails the task as it does for any call; the gateway of the pipeline's own call must know it. */
function endsTheTask(error: unknown): Error {
  if (ToolConfigurationError.isInstance(error) || endsRun(error)) return error;
  if (ReviewUnavailableError.isInstance(error)) return error;
  return new ToolConfigurationError(messageOf(error), { cause: error });
}

async function callAlone(
  tool: AnyTool,
  text: string,
  ctx: ToolContext | undefined,
): Promise<ToolResult> {
  const input = await readAlone(tool, text);
  if (!input.ok)
    return ToolResult.failure(`Invalid input for tool '${tool.name}': ${input.problem}`);
  try {
    return stepResult(await tool.execute(input.value, ctx as ToolContext)); // whoever calls a tool without a context has tools that need none
  } catch (error) {
    if (ToolConfigurationError.isInstance(error) || endsRun(error)) throw error;
    return threw(tool, error);
  }
}

type Input =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

async function readAlone(tool: AnyTool, text: string): Promise<Input> {
  if (tool.input === undefined) return { ok: true, value: text };
  if (isValidating(tool.input)) return parseText(tool.input, text); // the guard's other half
  return parseText(ANY_OBJECT, text);
}

/** Of plain JSON Schema only that it describes an object is known here. */
const ANY_OBJECT: OutputSchema<unknown> = Object.freeze({
  jsonSchema: {},
  schema: {
    "~standard": {
      version: 1,
      vendor: "agentensemble",
      validate: (value: unknown) =>
        isObject(value) ? { value } : { issues: [{ message: "expected a JSON object" }] },
    },
  },
} as const);

function stepResult(returned: ToolReturn): ToolResult {
  if (ToolResult.isInstance(returned)) return returned;
  if (typeof returned === "string") return ToolResult.success(returned);
  return returned === undefined || returned === null
    ? ToolResult.success("")
    : ToolResult.success(JSON.stringify(returned) ?? "", returned);
}
