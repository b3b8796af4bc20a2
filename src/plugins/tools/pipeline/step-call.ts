import type { AnyTool, ToolContext, ToolReturn } from "../../../contracts/tool.js";
import type { OutputSchema } from "../../../contracts/types.js";
import { ToolConfigurationError, ToolExecutionError, endsRun } from "../../../contracts/errors.js";
import { ReviewUnavailableError } from "../../../contracts/state-errors.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { parseText, isValidating } from "../../../util/schema/standard-schema.js";

import { isObject } from "../../../util/objects.js";
import { messageOf } from "../../../util/errors.js";

/**
 * Creates the failed result of a step that threw. An error without a message gets the default text
 * of a failed result.
 */
function threw(tool: AnyTool, error: unknown): ToolResult {
  return ToolResult.failure(
    error instanceof Error && error.message === ""
      ? ""
      : `Step '${tool.name}' threw: ${messageOf(error)}`,
  );
}

/**
 * Returns a step that also ends at the pipeline's time limit. The gateway applies only the limits
 * of the task and of the step.
 */
function tiedTo(signal: AbortSignal, tool: AnyTool): AnyTool {
  const { needsApproval, approvalDescription, approvalRejection, effectOf } = tool;
  // The type requires every property of a tool, so that a property added later can't be forgotten
  // here.
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
    client: tool.client,
    execute: (input, ctx) =>
      tool.execute(
        input,
        contextWith(
          ctx.signal === ctx.scope.signal ? signal : AbortSignal.any([signal, ctx.signal]),
          ctx,
        ),
      ),
  };
  // four absent methods are set to `undefined`, which callers treat as absent
  return tied as AnyTool;
}

function contextWith(signal: AbortSignal, ctx: ToolContext): ToolContext {
  const { agentRole, idempotencyKey, run, runId, scope, taskId, toolCallId } = ctx;
  return {
    agentRole,
    idempotencyKey,
    run,
    runId,
    scope,
    signal,
    taskId,
    toolCallId,
    requestApproval: (o) => ctx.requestApproval(o),
  };
}

/**
 * Calls one step through the tool gateway. Schema, hooks, approval, time limit, record and events
 * apply as for any call. `text` is the argument, or the JSON of the arguments if the step has a
 * schema. Outside a run the step is called directly, after validation. A step that throws returns a
 * failed result.
 * @throws errors that end more than the step: cancellation, invalid configuration, an early exit, a
 * failed hook
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

/**
 * Returns an error outside the step's own work, such as a failed hook. It must fail the task. The
 * gateway of the pipeline's call recognises the returned error.
 */
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
    // without a context, the tool must not need one
    return stepResult(await tool.execute(input.value, ctx as ToolContext));
  } catch (error) {
    if (ToolConfigurationError.isInstance(error) || endsRun(error)) throw error;
    return threw(tool, error);
  }
}

type Input =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

async function readAlone(tool: AnyTool, text: string): Promise<Input> {
  if (tool.input === undefined) return { ok: true, value: text };
  // the other half of the type guard
  if (isValidating(tool.input)) return parseText(tool.input, text);
  return parseText(ANY_OBJECT, text);
}

/** Accepts any object. A plain JSON Schema is known only to describe an object. */
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
