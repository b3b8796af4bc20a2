import type OpenAI from "openai";
import type { ChatRequest } from "../../../../contracts/chat-model.js";
import type { WireTarget } from "../../shared/chat-protocol.js";
import { UnsupportedRequest } from "../../shared/unsupported-request.js";
import { cacheFields, markerFor } from "../cache-marks.js";
import { requireNoBudget } from "../reasoning-budget.js";
import type { RequestSchemas } from "../sent-schemas.js";
import { toInputItems } from "./input-items.js";

type ResponseBody = OpenAI.Responses.ResponseCreateParams;
type ResponseFields = Omit<ResponseBody, "stream">;

function toolFields(request: ChatRequest, schemas: RequestSchemas): Partial<ResponseFields> {
  if (schemas.tools.length === 0) return {};
  const choice = request.toolChoice;
  return {
    // Always set, because this API treats tools as strict by default.
    tools: schemas.tools.map(({ name, description, sent, strict }) => ({
      type: "function" as const,
      name,
      description,
      parameters: sent,
      strict,
    })),
    ...(choice === undefined
      ? {}
      : {
          tool_choice:
            typeof choice === "string" ? choice : { type: "function" as const, name: choice.name },
        }),
  };
}

/** Requests the encrypted reasoning, because the vendor stores nothing. */
function reasoningFields(reasoning: ChatRequest["reasoning"]): Partial<ResponseFields> {
  if (reasoning === undefined) return {};
  const { effort, summary = "auto" } = reasoning;
  return {
    reasoning: {
      ...(effort === undefined ? {} : { effort }),
      ...(summary === "off" || effort === "none" ? {} : { summary }),
    },
    include: ["reasoning.encrypted_content"],
  };
}

/**
 * Builds the body of a call. The vendor stores nothing, because every request contains the whole
 * conversation. `providerOptions` override the other settings, except the one for streaming.
 */
export function requestBody(
  request: ChatRequest,
  schemas: RequestSchemas,
  target: WireTarget,
): ResponseBody {
  const { temperature, maxOutputTokens, stopSequences = [] } = request;
  if (stopSequences.length > 0) {
    throw new UnsupportedRequest(
      "the Responses API has no stop sequences",
      "Leave stopSequences out, or use the API 'chat'.",
    );
  }
  requireNoBudget(request.reasoning, "The Responses API");
  const { format } = schemas;
  return {
    model: target.modelId,
    input: toInputItems(request.messages, markerFor(request, target.isVendor)),
    ...cacheFields(request, target.isVendor),
    store: false,
    ...reasoningFields(request.reasoning),
    ...toolFields(request, schemas),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(format === undefined
      ? {}
      : {
          text: {
            format: {
              type: "json_schema",
              name: format.name,
              schema: { ...format.sent },
              strict: format.strict,
            },
          },
        }),
    ...request.providerOptions,
    stream: target.stream,
  };
}
