import type { AnyTool, ToolContext } from "../../../contracts/tool.js";
import type { ToolResult } from "../../../contracts/tool-result.js";
import type { Awaitable } from "../../../contracts/types.js";
import { ValidationError } from "../../../contracts/errors.js";
import { isTool, TOOL_NAME } from "../../../contracts/tool.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireBoolean,
  requireDuration,
  requireFunction,
  requireOneOf,
  requireText,
} from "../../../contracts/validation.js";

/**
 * The reaction to a failed step. FAIL_FAST returns the failure. CONTINUE_ON_FAILURE passes its
 * message to the next step.
 */
export type PipelineErrorStrategy = "FAIL_FAST" | "CONTINUE_ON_FAILURE";

/** One step of a {@link ToolPipeline}. */
export interface PipelineStep {
  readonly tool: AnyTool;
  /**
   * Converts the successful result of this step into the input of the next step. The input is a
   * text, or an object if the next step has an input schema. Null and `undefined` become an empty
   * text. Not called after a failure. Default: the next step receives `output` unchanged.
   */
  readonly adapter?:
    ((result: ToolResult, ctx: ToolContext) => Awaitable<string | object | undefined>) | undefined;
}

/** Options of a {@link ToolPipeline}. */
export interface ToolPipelineOptions {
  /** The name of the tool: letters, digits, `_` and `-`, at most 64 characters. */
  readonly name: string;
  /** The description of the tool for the model. */
  readonly description: string;
  /** The steps in order. A pipeline without steps returns its input. */
  readonly steps: readonly PipelineStep[];
  /** The reaction to a failed step. Default `"FAIL_FAST"`. */
  readonly errorStrategy?: PipelineErrorStrategy | undefined;
  /** Time limit for all steps together, in milliseconds. Default: none. */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether no other tool call of the same turn may run at the same time. Default: true if one of
   * the steps is sequential.
   */
  readonly sequential?: boolean | undefined;
  /**
   * Whether each call of the pipeline needs a person's approval. Steps with `requireApproval` ask
   * separately. Default false.
   */
  readonly requireApproval?: boolean | undefined;
}

const OPTIONS = [
  "name",
  "description",
  "steps",
  "errorStrategy",
  "timeoutMs",
  "sequential",
  "requireApproval",
] as const;

/** @throws ValidationError naming the option, and the step by its number. */
export function checkPipelineOptions(options: ToolPipelineOptions): void {
  checkOptions("ToolPipeline", options, OPTIONS);
  const { name, description, steps, errorStrategy, timeoutMs, sequential, requireApproval } =
    options;
  if (steps === undefined)
    throw new ValidationError("ToolPipeline steps must be an array, got: undefined");
  requireArray("ToolPipeline steps", steps);
  steps.forEach((step: PipelineStep | null | undefined, index) =>
    checkStep(`ToolPipeline step ${index + 1}`, step, index === steps.length - 1),
  );
  requireText(name, "ToolPipeline name must not be blank");
  requireText(description, "ToolPipeline description must not be blank");
  if (!TOOL_NAME.test(name)) {
    throw new ValidationError(
      `ToolPipeline name must have 1 to 64 letters, digits, '_' or '-', got: ${preview(name)}`,
      {
        hint: "Give it a name: ToolPipeline.of(name, description, ...steps).",
      },
    );
  }
  if (errorStrategy === null) throw new ValidationError("errorStrategy must not be null");
  requireOneOf("ToolPipeline errorStrategy", errorStrategy, ["FAIL_FAST", "CONTINUE_ON_FAILURE"]);
  requireDuration("ToolPipeline timeoutMs", timeoutMs);
  requireBoolean("ToolPipeline sequential", sequential);
  requireBoolean("ToolPipeline requireApproval", requireApproval);
  const alone = steps.find(({ tool }) => tool.sequential === true);
  if (sequential === false && alone !== undefined) {
    throw new ValidationError(
      `ToolPipeline sequential must not be false: step '${alone.tool.name}' must never run in parallel with other calls`,
    );
  }
}

function checkStep(what: string, step: PipelineStep | null | undefined, last: boolean): void {
  if (step === undefined || step === null)
    throw new ValidationError("pipeline steps must not contain null elements");
  if (isTool(step))
    throw new ValidationError(`${what} is a tool and must be { tool, adapter? }`, {
      hint: "ToolPipeline.of(...) takes tools as they are.",
    });
  checkOptions(what, step, ["tool", "adapter"]);
  const { tool, adapter } = step as { readonly tool: unknown; readonly adapter: unknown };
  if (tool === undefined || tool === null) throw new ValidationError("step tool must not be null");
  if (!isTool(tool))
    throw new ValidationError(`${what} tool must be a tool, got: ${preview(tool)}`, {
      hint: "Make it with tool({ name, description, execute }).",
    });
  requireText(tool.name, `${what} tool must have a name`);
  if (adapter === null) throw new ValidationError("adapter must not be null");
  requireFunction(`${what} adapter`, adapter);
  if (last && adapter !== undefined) {
    throw new ValidationError(
      `${what} ('${tool.name}') is the last one: its adapter would never run`,
      {
        hint: "Leave the adapter out, or add a step that changes the result.",
      },
    );
  }
}
