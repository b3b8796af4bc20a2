import type OpenAI from "openai";
import type { ChatRequest } from "../../../contracts/chat-model.js";
import { toWireMessages } from "./messages.js";
import { toWireFormat } from "./response-format.js";

type Body = OpenAI.Chat.Completions.ChatCompletionCreateParams;
type WholeBody = OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming;
type StreamingBody = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;
type Fields = Omit<WholeBody, "stream">;

function toolFields(request: ChatRequest): Partial<Fields> {
  const tools = request.tools ?? [];
  // The vendor refuses tool_choice without tools.
  if (tools.length === 0) return {};
  const choice = request.toolChoice;
  return {
    tools: tools.map((tool) => ({
      type: "function" as const,
      function: { name: tool.name, description: tool.description, parameters: { ...tool.parameters } },
    })),
    ...(choice === undefined ? {} : { tool_choice: typeof choice === "string" ? choice : { type: "function" as const, function: { name: choice.name } } }),
  };
}

function settingFields(request: ChatRequest, isVendor: boolean): Partial<Fields> {
  const { temperature, maxOutputTokens, stopSequences } = request;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    // Compatible servers know the older name; OpenAI's reasoning models take only the newer one.
    ...(maxOutputTokens === undefined ? {} : isVendor ? { max_completion_tokens: maxOutputTokens } : { max_tokens: maxOutputTokens }),
    ...(stopSequences === undefined || stopSequences.length === 0 ? {} : { stop: [...stopSequences] }),
  };
}

function commonFields(modelId: string, request: ChatRequest, isVendor: boolean): Fields {
  const format = request.responseFormat === undefined ? undefined : toWireFormat(request.responseFormat);
  return {
    model: modelId,
    messages: toWireMessages(request.messages),
    ...toolFields(request),
    ...settingFields(request, isVendor),
    ...(format === undefined ? {} : { response_format: format }),
    ...request.providerOptions,
  };
}

/** The body of a call that is answered in one piece. `providerOptions` come last, so they win over what is set here. */
export function wholeBody(modelId: string, request: ChatRequest, isVendor: boolean): WholeBody {
  return { ...commonFields(modelId, request, isVendor), stream: false };
}

/** The body of a streamed call; asks for the usage too, which streams do not carry by themselves. */
export function streamingBody(modelId: string, request: ChatRequest, isVendor: boolean): StreamingBody {
  const fields: Omit<Body, "stream"> = commonFields(modelId, request, isVendor);
  return { ...fields, stream: true, stream_options: { include_usage: true, ...fields.stream_options } };
}
