import type { AnyTool, Tool, ToolContext } from "../../../contracts/tool.js";
import type { DescribedInput } from "../../shared/described-input.js";
import type {
  PipelineErrorStrategy,
  PipelineStep,
  ToolPipelineOptions,
} from "./pipeline-options.js";
import { AgentEnsembleError, ValidationError } from "../../../contracts/errors.js";
import { ToolResult } from "../../../contracts/tool-result.js";
import { describedInput } from "../../shared/described-input.js";
import { checkPipelineOptions } from "./pipeline-options.js";
import { callStep } from "./step-call.js";
import { stepSchema } from "./step-schema.js";
import { messageOf } from "../../../util/errors.js";

/** Effects of calls, from weakest to strongest. */
const EFFECTS = ["read", "write", "send"] as const;

/**
 * Combines several tools into one tool. The output of each step is the input of the next step. The
 * model makes one call. Every step goes through the tool gateway like any other call. Its own
 * schema, hooks, approval, time limit, trace and events apply. Pipelines are immutable and can be
 * nested.
 *
 * The pipeline takes the input of its first step: its arguments if it has an input schema,
 * otherwise one text.
 */
export class ToolPipeline implements Tool<unknown> {
  readonly name: string;
  readonly description: string;
  /** The JSON Schema of the first step, which validates the arguments itself. */
  readonly input: DescribedInput | undefined;
  readonly steps: readonly PipelineStep[];
  readonly errorStrategy: PipelineErrorStrategy;
  readonly timeoutMs: number | undefined;
  readonly sequential: boolean;
  readonly requireApproval: boolean | undefined;
  /** Whether one of the steps is private. */
  readonly private: boolean;
  /** Whether the results of one of the steps come from outside. */
  readonly untrusted: boolean;
  /** The strongest effect of the steps. `undefined` if the effect of one step is unknown. */
  readonly effect: (typeof EFFECTS)[number] | undefined;
  /** The steps are separate calls, each with its own record. */
  readonly replay = "run";
  readonly delegates = true;

  /**
   * @throws ValidationError for a blank or invalid name, a blank description, or an unknown option.
   * Also for a step that is not a tool, a step whose input schema does not describe an object, and
   * an adapter after the last step.
   */
  constructor(options: ToolPipelineOptions) {
    checkPipelineOptions(options);
    const {
      name,
      description,
      steps,
      errorStrategy = "FAIL_FAST",
      timeoutMs,
      sequential,
      requireApproval,
    } = options;
    this.name = name;
    this.description = description;
    this.steps = Object.freeze(steps.map((step) => Object.freeze({ ...step })));
    const [first] = steps.map(({ tool }, index) =>
      stepSchema(`ToolPipeline step ${index + 1}`, tool),
    );
    this.input = first && describedInput(first);
    this.errorStrategy = errorStrategy;
    this.timeoutMs = timeoutMs;
    this.sequential = sequential ?? steps.some(({ tool }) => tool.sequential === true);
    this.requireApproval = requireApproval;
    this.private = steps.some(({ tool }) => (tool.private ?? tool.delegates) === true);
    this.untrusted = steps.some(({ tool }) => tool.untrusted === true);
    this.effect = strongestEffect(steps);
    Object.freeze(this);
  }

  /**
   * Creates a pipeline of tools without adapters. Without a name and a description it is named
   * after its steps: `a_then_b`, `Pipeline: a -> b`.
   * @throws ValidationError as the constructor does
   */
  static of(first: AnyTool, ...rest: AnyTool[]): ToolPipeline;
  static of(name: string, description: string, first: AnyTool, ...rest: AnyTool[]): ToolPipeline;
  static of(...given: readonly (AnyTool | string)[]): ToolPipeline {
    const named = typeof given[0] === "string";
    // validated here and in the constructor
    const tools = (named ? given.slice(2) : given) as readonly (AnyTool | null | undefined)[];
    if (tools[0] === undefined || tools[0] === null)
      throw new ValidationError("first step must not be null");
    const steps = tools.map((tool) => {
      if (tool === undefined || tool === null)
        throw new ValidationError("pipeline steps must not contain null elements");
      return { tool };
    });
    const names = steps.map(({ tool }) => tool.name);
    const [name, description] = named
      ? given
      : [names.join("_then_"), `Pipeline: ${names.join(" -> ")}`];
    // as the overloads declare; the constructor validates them
    return new ToolPipeline({ name: name as string, description: description as string, steps });
  }

  /**
   * Runs the steps. `input` is a text, or the first step's arguments. Outside a run, steps are
   * called without hooks and records.
   */
  async execute(input: unknown, ctx: ToolContext): Promise<ToolResult> {
    let text = toText(input);
    let result = ToolResult.success(text);
    for (const [index, { tool, adapter }] of this.steps.entries()) {
      // a direct call may omit the context
      (ctx as ToolContext | undefined)?.signal?.throwIfAborted();
      result = await callStep(tool, text, index + 1, ctx);
      if (!result.ok) {
        if (this.errorStrategy === "FAIL_FAST") return result;
        text = result.errorMessage ?? "";
        continue;
      }
      const adapted = await adapt(tool, adapter, result, ctx);
      if (typeof adapted !== "string") return adapted;
      text = adapted;
    }
    return result;
  }
}

/** Returns the next step's input, or a failed result if the adapter throws. */
async function adapt(
  tool: AnyTool,
  adapter: PipelineStep["adapter"],
  result: ToolResult,
  ctx: ToolContext,
): Promise<string | ToolResult> {
  if (adapter === undefined) return result.output;
  try {
    return toText(await adapter(result, ctx));
  } catch (error) {
    if (AgentEnsembleError.isInstance(error)) throw error; // the error type defines what it ends
    (ctx as ToolContext | undefined)?.signal?.throwIfAborted();
    return ToolResult.failure(`Adapter after step '${tool.name}' threw: ${messageOf(error)}`);
  }
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function strongestEffect(steps: readonly PipelineStep[]): ToolPipeline["effect"] {
  const effects = steps.map(({ tool }) => tool.effect);
  if (effects.includes(undefined)) return undefined;
  // a pipeline without steps has no effect
  return EFFECTS.findLast((effect) => effects.includes(effect)) ?? "read";
}
