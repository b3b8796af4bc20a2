import type OpenAI from "openai";
import type { ChatRequest } from "../../../../contracts/chat-model.js";
import type { WireTarget } from "../../shared/chat-protocol.js";
import { cacheFields, markerFor } from "../cache-marks.js";
import { requireNoBudget } from "../reasoning-budget.js";
import type { RequestSchemas } from "../sent-schemas.js";
import { toWireMessages } from "./messages.js";

type WholeBody = OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming;
type StreamingBody = OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming;
type ChatFields = Omit<WholeBody, "stream">;

function toolFields(request: ChatRequest, schemas: RequestSchemas): Partial<ChatFields> {
  // The vendor rejects tool_choice without tools.
  if (schemas.tools.length === 0) return {};
  const choice = request.toolChoice;
  return {
    tools: schemas.tools.map(({ name, description, sent, strict }) => ({
      type: "function" as const,
      function: { name, description, parameters: sent, ...(strict ? { strict } : {}) },
    })),
    ...(choice === undefined
      ? {}
      : {
          tool_choice:
            typeof choice === "string"
              ? choice
              : { type: "function" as const, function: { name: choice.name } },
        }),
  };
}

function formatFields({ format }: RequestSchemas): Partial<ChatFields> {
  if (format === undefined) return {};
  return {
    response_format: {
      type: "json_schema",
      json_schema: { name: format.name, schema: format.sent, strict: format.strict },
    },
  };
}

/** Whether the server accepts the newer name of the output limit. Azure has OpenAI's models. */
function hasNewerLimit({ isVendor, baseURL }: WireTarget): boolean {
  return isVendor || new URL(baseURL).hostname.endsWith(".azure.com");
}

function settingFields(request: ChatRequest, target: WireTarget): Partial<ChatFields> {
  const { temperature, maxOutputTokens, stopSequences, reasoning } = request;
  return {
    ...(reasoning?.effort === undefined ? {} : { reasoning_effort: reasoning.effort }),
    ...(temperature === undefined ? {} : { temperature }),
    // Compatible servers accept the older name. OpenAI's reasoning models accept only the newer
    // one.
    ...(maxOutputTokens === undefined
      ? {}
      : hasNewerLimit(target)
        ? { max_completion_tokens: maxOutputTokens }
        : { max_tokens: maxOutputTokens }),
    ...(stopSequences === undefined || stopSequences.length === 0
      ? {}
      : { stop: [...stopSequences] }),
  };
}

/**
 * Builds the body of a call. `providerOptions` override the other settings, except the one for
 * streaming.
 */
export function requestBody(
  request: ChatRequest,
  schemas: RequestSchemas,
  target: WireTarget,
): WholeBody | StreamingBody {
  requireNoBudget(request.reasoning, "Chat Completions");
  const fields: ChatFields & Pick<StreamingBody, "stream_options"> = {
    model: target.modelId,
    messages: toWireMessages(request.messages, {
      mark: markerFor(request, target.isVendor),
      modelId: target.modelId,
    }),
    ...cacheFields(request, target.isVendor),
    ...toolFields(request, schemas),
    ...settingFields(request, target),
    ...formatFields(schemas),
    ...request.providerOptions,
  };
  if (!target.stream) return { ...fields, stream: false };
  // By default streams do not include the usage. Null suits servers without this field.
  const { stream_options: options } = fields;
  return {
    ...fields,
    stream: true,
    stream_options: options === null ? null : { include_usage: true, ...options },
  };
}
