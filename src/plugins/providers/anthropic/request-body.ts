import type { Anthropic } from "@anthropic-ai/sdk";
import type { ChatRequest } from "../../../contracts/chat-model.js";
import type { WireTarget } from "../shared/chat-protocol.js";
import type { StrictSchemas } from "../shared/strict-schema.js";
import type { ResolvedAnthropicOptions } from "./anthropic-options.js";
import { toSystemBlocks, toWireMessages } from "./messages.js";
import { setMarks } from "./cache-marks.js";
import { thinkingOf } from "./thinking.js";
import { ANTHROPIC_DIALECT, STRICT_TOOL_LIMIT } from "./strict-dialect.js";

type Body = Anthropic.MessageCreateParams;
type ToolFields = Pick<Body, "tool_choice"> & { readonly tools?: Anthropic.Tool[] };

/** The settings of a request body. */
export interface BodySettings {
  readonly options: Pick<ResolvedAnthropicOptions, "maxOutputTokens" | "promptCaching">;
  readonly strict: StrictSchemas;
  readonly structuredOutput: boolean;
}

/**
 * Strict tools and the output format of one request share the vendor's limits. Schemas beyond the
 * limits are sent without strict mode.
 */
class StrictBudget {
  readonly #settings: BodySettings;
  #tools = 0;
  #optional = 0;
  #unions = 0;

  constructor(settings: BodySettings) {
    this.#settings = settings;
  }

  /** Returns the strict schema if the model, the schema and the limits allow it. */
  take(
    schema: Anthropic.Tool.InputSchema | Readonly<Record<string, unknown>>,
    isTool: boolean,
  ): Readonly<Record<string, unknown>> | undefined {
    const strict = this.#settings.structuredOutput ? this.#settings.strict.find(schema) : undefined;
    if (strict === undefined) return undefined;
    const { limits } = ANTHROPIC_DIALECT;
    const [tools, optional, unions] = [
      this.#tools + (isTool ? 1 : 0),
      this.#optional + strict.optional,
      this.#unions + strict.unions,
    ];
    if (tools > STRICT_TOOL_LIMIT || optional > limits.optional || unions > limits.unions)
      return undefined;
    [this.#tools, this.#optional, this.#unions] = [tools, optional, unions];
    return strict.schema;
  }
}

function toolChoice(choice: NonNullable<ChatRequest["toolChoice"]>): Anthropic.ToolChoice {
  if (choice === "required") return { type: "any" };
  return typeof choice === "string" ? { type: choice } : { type: "tool", name: choice.name };
}

function toolFields(request: ChatRequest, budget: StrictBudget): ToolFields {
  const tools = (request.tools ?? []).map((tool): Anthropic.Tool => {
    const strict = budget.take(tool.parameters, true);
    return {
      name: tool.name,
      description: tool.description,
      input_schema: { ...(strict ?? tool.parameters), type: "object" },
      ...(strict === undefined ? {} : { strict: true }),
    };
  });
  // The vendor rejects tool_choice without tools.
  if (tools.length === 0) return {};
  const choice = request.toolChoice;
  return {
    tools,
    ...(choice === undefined ? {} : { tool_choice: toolChoice(choice) }),
  };
}

function outputFields(
  request: ChatRequest,
  budget: StrictBudget,
  effort: Anthropic.OutputConfig["effort"],
): Partial<Body> {
  const schema =
    request.responseFormat === undefined
      ? undefined
      : budget.take(request.responseFormat.schema, false);
  // The vendor supports only strict formats. Otherwise the prompt and the later validation enforce
  // the schema.
  const config: Anthropic.OutputConfig = {
    ...(schema !== undefined && { format: { type: "json_schema", schema: { ...schema } } }),
    ...(effort !== undefined && { effort }),
  };
  return Object.keys(config).length === 0 ? {} : { output_config: config };
}

function settingFields(request: ChatRequest): Partial<Body> {
  const { temperature, stopSequences = [] } = request;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(stopSequences.length === 0 ? {} : { stop_sequences: [...stopSequences] }),
  };
}

/**
 * Builds the body of a call. `providerOptions` override the other settings, except the one for
 * streaming.
 */
export function requestBody(
  request: ChatRequest,
  target: WireTarget,
  settings: BodySettings,
): Body {
  const { promptCaching, maxOutputTokens } = settings.options;
  const budget = new StrictBudget(settings);
  const system = toSystemBlocks(request.messages);
  const thinking = thinkingOf(request);
  const thinks = thinking.config?.type !== "disabled";
  const output = outputFields(request, budget, thinking.effort);
  const withTools = toolFields(request, budget);
  const messages = toWireMessages(request.messages, {
    thinks,
    endsAsBlock: typeof request.cache === "object" || request.cache === "auto",
  });
  setMarks({ tools: withTools.tools ?? [], system, messages }, request.cache, promptCaching);
  return {
    model: target.modelId,
    max_tokens: (request.maxOutputTokens ?? maxOutputTokens) + thinking.budgetTokens,
    messages,
    ...(thinking.config === undefined ? {} : { thinking: thinking.config }),
    ...(system.length === 0 ? {} : { system }),
    ...withTools,
    ...settingFields(request),
    ...output,
    ...request.providerOptions,
    stream: target.stream,
  } as Body; // `stream` determines which of the two types the body has
}
