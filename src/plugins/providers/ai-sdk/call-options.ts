import type {
  LanguageModelV2CallOptions,
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3Message,
} from "@ai-sdk/provider";
import type {
  ChatMessage,
  ChatRequest,
  ContentPart,
  ToolCall,
} from "../../../contracts/chat-model.js";
import { imageSource } from "../shared/image-source.js";
import type { Specification } from "./ai-sdk-model.js";

type UserPart = Extract<LanguageModelV3Message, { readonly role: "user" }>["content"][number];
type AssistantPart = Extract<
  LanguageModelV3Message,
  { readonly role: "assistant" }
>["content"][number];

/** The options of a call, equal in v2, v3 and v4 except for the data of files. */
export type VendorCallOptions = LanguageModelV2CallOptions & LanguageModelV3CallOptions;

function toFilePart(
  part: ContentPart & { readonly type: "image" },
  specification: Specification,
): LanguageModelV3FilePart {
  const source = imageSource(part);
  const isAddress = source.kind === "url";
  const value = isAddress ? new URL(source.url) : source.data;
  const mediaType = isAddress ? (part.mediaType ?? "image/*") : source.mediaType;
  if (specification !== "v4") return { type: "file", data: value, mediaType };
  const data = isAddress ? { type: "url", url: value } : { type: "data", data: value };
  // v4 adds the kind of data; the types here are those of v3
  return { type: "file", data: data as unknown as string, mediaType };
}

function toUserPart(part: ContentPart, specification: Specification): UserPart {
  return part.type === "text" ? { type: "text", text: part.text } : toFilePart(part, specification);
}

/** Returns the arguments as a value. Invalid arguments stay a text. */
function toInput(call: ToolCall): unknown {
  try {
    return JSON.parse(call.arguments);
  } catch {
    return call.arguments;
  }
}

function toAssistantParts(message: ChatMessage & { readonly role: "assistant" }): AssistantPart[] {
  const text: AssistantPart[] =
    message.content === "" ? [] : [{ type: "text", text: message.content }];
  const calls = (message.toolCalls ?? []).map((call): AssistantPart => ({
    type: "tool-call",
    toolCallId: call.id,
    toolName: call.name,
    input: toInput(call),
  }));
  return [...text, ...calls];
}

function toPromptMessage(
  message: ChatMessage,
  specification: Specification,
): LanguageModelV3Message {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.content };
    case "user": {
      const parts: readonly ContentPart[] =
        typeof message.content === "string"
          ? [{ type: "text", text: message.content }]
          : message.content;
      return { role: "user", content: parts.map((part) => toUserPart(part, specification)) };
    }
    case "assistant":
      return { role: "assistant", content: toAssistantParts(message) };
    case "tool": {
      const output = {
        type: message.isError === true ? ("error-text" as const) : ("text" as const),
        value: message.content,
      };
      return {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: message.toolCallId,
            toolName: message.toolName,
            output,
          },
        ],
      };
    }
  }
}

function toolOptions(request: ChatRequest): Partial<VendorCallOptions> {
  const tools = request.tools ?? [];
  if (tools.length === 0) return {};
  const choice = request.toolChoice;
  return {
    tools: tools.map((tool) => ({
      type: "function" as const,
      name: tool.name,
      description: tool.description,
      inputSchema: tool.parameters,
    })),
    ...(choice === undefined
      ? {}
      : {
          toolChoice:
            typeof choice === "string"
              ? { type: choice }
              : { type: "tool" as const, toolName: choice.name },
        }),
  };
}

function settingOptions(request: ChatRequest): Partial<VendorCallOptions> {
  const { temperature, maxOutputTokens, stopSequences, providerOptions, responseFormat } = request;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(stopSequences === undefined || stopSequences.length === 0
      ? {}
      : { stopSequences: [...stopSequences] }),
    ...(responseFormat === undefined
      ? {}
      : {
          responseFormat: {
            type: "json" as const,
            name: responseFormat.name,
            schema: responseFormat.schema,
          },
        }),
    // Options by provider, as everywhere in the AI SDK: { mistral: { safePrompt: true } }. The
    // model rejects invalid ones.
    ...(providerOptions === undefined
      ? {}
      : { providerOptions: providerOptions as NonNullable<VendorCallOptions["providerOptions"]> }),
  };
}

/** Converts a request into the options of `doGenerate` and `doStream`. */
export function toCallOptions(
  request: ChatRequest,
  o: { readonly specification: Specification; readonly signal: AbortSignal },
): VendorCallOptions {
  return {
    // The parts used here are equal in v2 and v3.
    prompt: request.messages.map((message) =>
      toPromptMessage(message, o.specification),
    ) as VendorCallOptions["prompt"],
    abortSignal: o.signal,
    ...toolOptions(request),
    ...settingOptions(request),
  };
}
