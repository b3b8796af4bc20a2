import type { AnyTool, Tool, ToolContext } from "../../../contracts/tool.js";
import type { DescribedInput } from "../../shared/described-input.js";
import type {
  PipelineErrorStrategy,
  PipelineStep,
  ToolPipelineOptions,
} from "./pipeline-options.js";
import { AgentEnsembleError, ValidationError } from "../../../contracts/errors.js";
import { ToolResult } from "../../../contracts/tool.js";
import { describedInput } from "../../shared/described-input.js";
import { checkPipelineOptions } from "./pipeline-options.js";
import { callStep } from "./step-call.js";
import { stepSchema } from "./step-schema.js";
import { messageOf } from "../../../util/errors.js";

/** What calls do to the world, from the least to the most. */
const EFFECTS = ["read", "write", "send"] as const;

/**
 * Several tools in a row as one tool: the output of each step is the input of the next, and the model sees one call. Every step goes through the
 * framework's gateway like any other call, with its own schema, hooks, approval, time limit, trace and events. Immutable; pipelines nest.
 *
 * The pipeline takes what its first step takes: its arguments where it has an input schema, else one text.
 */
export class ToolPipeline implements Tool<unknown> {
  readonly name: string;
  readonly description: string;
  /** The first step's JSON Schema; the step itself checks the arguments. */
  readonly input: DescribedInput | undefined;
  readonly steps: readonly PipelineStep[];
  readonly errorStrategy: PipelineErrorStrategy;
  readonly timeoutMs: number | undefined;
  readonly sequential: boolean;
  readonly requireApproval: boolean | undefined;
  /** Whether a step is. */
  readonly private: boolean;
  /** Whether a step's results come from outside. */
  readonly untrusted: boolean;
  /** The strongest of the steps'; unknown when that of one is. */
  readonly effect: (typeof EFFECTS)[number] | undefined;
  /** The steps are calls of their own, recorded one by one. */
  readonly replay = "run";
  readonly delegates = true;

  /**
   * @throws ValidationError for a blank or unfit name, a blank description, a step that is no tool or whose input schema does not describe an object,
   * an adapter after the last step, an unknown option.
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
   * A pipeline of tools without adapters. Without a name and a description it is named after its steps: `a_then_b`, `Pipeline: a -> b`.
   * @throws ValidationError as the constructor does
   */
  static of(first: AnyTool, ...rest: AnyTool[]): ToolPipeline;
  static of(name: string, description: string, first: AnyTool, ...rest: AnyTool[]): ToolPipeline;
  static of(...given: readonly (AnyTool | string)[]): ToolPipeline {
    const named = typeof given[0] === "string";
    const tools = (named ? given.slice(2) : given) as readonly (AnyTool | null | undefined)[]; // what they are is checked here and by the constructor
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
    return new ToolPipeline({ name: name as string, description: description as string, steps }); // the overloads say so; the constructor checks
  }

  /** Runs the steps; `input` is a text, or the first step's arguments. Outside a run steps are called without hooks and records. */
  async execute(input: unknown, ctx: ToolContext): Promise<ToolResult> {
    let text = toText(input);
    let result = ToolResult.success(text);
    for (const [index, { tool, adapter }] of this.steps.entries()) {
      (ctx as ToolContext | undefined)?.signal?.throwIfAborted(); // by hand it may be called without
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

/** The next step's input, or the failed result of an adapter that threw. */
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
    if (AgentEnsembleError.isInstance(error)) throw error; // it says itself what it ends
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
  return EFFECTS.findLast((effect) => effects.includes(effect)) ?? "read"; // without steps nothing is done
}
