import type {
  LanguageModelV2CallOptions,
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3ToolResultOutput,
} from "@ai-sdk/provider";
import type {
  AssistantMessage,
  ChatMessage,
  ChatRequest,
  ToolAnswer,
} from "../../../contracts/chat-model.js";
import type { ContentPart, MediaPart } from "../../../contracts/content.js";
import { normalMediaType } from "../../../util/media.js";
import { withReasoning } from "../shared/reasoning.js";
import { callDataIn } from "./call-data.js";
import { mergedSettings, reasoningOptions } from "./reasoning-options.js";
import { noFormFor, readMedia } from "../shared/parts.js";
import { sentArguments } from "../shared/wire-fields.js";
import { cacheMark, setRequestMarks, type MarkableBlock } from "./cache-marks.js";
import type { Specification } from "./ai-sdk-model.js";

type UserPart = Extract<LanguageModelV3Message, { readonly role: "user" }>["content"][number];
type AssistantPart = Extract<
  LanguageModelV3Message,
  { readonly role: "assistant" }
>["content"][number];

type ToolOutput = LanguageModelV3ToolResultOutput;
type ContentOutput = Extract<ToolOutput, { readonly type: "content" }>;

/** The options of a call. They are equal in v2, v3 and v4, except for the data of files. */
export type VendorCallOptions = LanguageModelV2CallOptions & LanguageModelV3CallOptions;

function toFilePart(part: MediaPart, specification: Specification): LanguageModelV3FilePart {
  const { mediaType, ...source } = fileOf(part);
  const value = source.url === undefined ? source.data : new URL(source.url);
  const name = part.type === "file" && part.name !== undefined ? { filename: part.name } : {};
  if (specification !== "v4") return { type: "file", data: value, mediaType, ...name };
  const data =
    source.url === undefined ? { type: "data", data: value } : { type: "url", url: value };
  // v4 adds the kind of data. The types used here are the v3 types.
  return { type: "file", data: data as unknown as string, mediaType, ...name };
}

/** A file, given by its address or by its content as base64 text. */
type SentFile = { readonly mediaType: string } & (
  | { readonly url: string; readonly data?: undefined }
  | { readonly data: string; readonly url?: undefined }
);

function fileOf(part: MediaPart): SentFile {
  const content = readMedia(part);
  if (content.kind === "text")
    return {
      data: Buffer.from(content.text).toString("base64"),
      mediaType: normalMediaType(part.mediaType) ?? "text/plain",
    };
  return content.kind === "url"
    ? { url: content.url, mediaType: content.mediaType }
    : { data: content.data, mediaType: content.mediaType };
}

function toUserPart(part: ContentPart, specification: Specification): UserPart {
  return part.type === "text" ? { type: "text", text: part.text } : toFilePart(part, specification);
}

/**
 * Converts the parts of a tool's result. The versions of the specification represent them
 * differently.
 */
function toOutputPart(part: ContentPart, specification: Specification): object {
  if (part.type === "text") return { type: "text", text: part.text };
  if (specification === "v4") return toFilePart(part, specification);
  const { url, data, mediaType } = fileOf(part);
  if (specification === "v2") {
    if (url !== undefined) throw noFormFor(part, "The model's specification v2");
    return { type: "media", data, mediaType };
  }
  const name = part.type === "file" && part.name !== undefined ? { filename: part.name } : {};
  if (url === undefined)
    return part.type === "image"
      ? { type: "image-data", data, mediaType }
      : { type: "file-data", data, mediaType, ...name };
  return part.type === "image" ? { type: "image-url", url } : { type: "file-url", url };
}

function toOutput(message: ToolAnswer, { specification, provider }: CallTarget): ToolOutput {
  const { content, parts = [], isError } = message;
  if (parts.length === 0) return { type: isError === true ? "error-text" : "text", value: content };
  const value = [
    ...(content === "" ? [] : [{ type: "text", text: content }]),
    ...parts.map((part) => ({
      ...toOutputPart(part, specification),
      ...cacheMark(part, provider),
    })),
  ];
  // the form depends on the specification
  return { type: "content", value: value as ContentOutput["value"] };
}

/** The model and the specification for which a request is written. */
interface CallTarget {
  readonly specification: Specification;
  readonly provider: string;
}

type CallOptionsOfVendor = Pick<
  Extract<AssistantPart, { readonly type: "tool-call" }>,
  "providerOptions"
>;

/** Returns the provider's data of each call, by its id. */
function callMetadata(
  reasoning: NonNullable<AssistantMessage["reasoning"]>,
  provider: string,
): ReadonlyMap<string, CallOptionsOfVendor> {
  const own = reasoning.filter((part) => part.provider === provider);
  return new Map(
    own.flatMap(({ data }) => {
      const found = callDataIn(data);
      if (found === undefined) return [];
      // The metadata keep the form in which the provider returned them.
      return [[found.callId, { providerOptions: found.metadata } as CallOptionsOfVendor]];
    }),
  );
}

function toAssistantParts(message: AssistantMessage, provider: string): readonly AssistantPart[] {
  const text: AssistantPart[] =
    message.content === "" ? [] : [{ type: "text", text: message.content }];
  const { reasoning = [] } = message;
  const metadata = callMetadata(reasoning, provider);
  const calls = (message.toolCalls ?? []).map((call): AssistantPart => ({
    type: "tool-call",
    toolCallId: call.id,
    toolName: call.name,
    input: sentArguments(call),
    ...metadata.get(call.id),
  }));
  const others = [...text, ...calls];
  const thoughts = reasoning.filter(({ data }) => callDataIn(data) === undefined);
  const sent = thoughts.map((part) => ({
    ...part,
    ...(part.data !== undefined && {
      data: { type: "reasoning", text: part.text, providerOptions: part.data },
    }),
  }));
  return withReasoning({ ...message, reasoning: sent }, provider, others);
}

function toPromptMessage(message: ChatMessage, target: CallTarget): LanguageModelV3Message {
  const { specification, provider } = target;
  switch (message.role) {
    case "system":
      return { role: "system", content: message.content, ...cacheMark(message, provider) };
    case "user": {
      const parts: readonly ContentPart[] =
        typeof message.content === "string"
          ? [{ type: "text", text: message.content }]
          : message.content;
      return {
        role: "user",
        content: parts.map((part) => ({
          ...toUserPart(part, specification),
          ...cacheMark(part, provider),
        })),
      };
    }
    case "assistant":
      return { role: "assistant", content: [...toAssistantParts(message, provider)] };
    case "tool": {
      const output = toOutput(message, target);
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

/**
 * Converts the conversation. The results of one turn's tool calls form one message, because some
 * vendors require this. Empty answers are omitted, because some vendors refuse them.
 */
function toPrompt(
  messages: readonly ChatMessage[],
  target: CallTarget,
): readonly LanguageModelV3Message[] {
  const prompt: LanguageModelV3Message[] = [];
  for (const message of messages) {
    const next = toPromptMessage(message, target);
    const last = prompt.at(-1);
    if (next.role === "tool" && last?.role === "tool") last.content.push(...next.content);
    else if (next.content.length > 0) prompt.push(next);
  }
  return prompt;
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

function settingOptions(request: ChatRequest, provider: string): Partial<VendorCallOptions> {
  const { temperature, maxOutputTokens, stopSequences, responseFormat } = request;
  const providerOptions = mergedSettings(
    reasoningOptions(request.reasoning, provider),
    request.providerOptions,
  );
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
    // Options by provider, as usual in the AI SDK: { mistral: { safePrompt: true } }. The model
    // rejects invalid options.
    ...(providerOptions === undefined
      ? {}
      : { providerOptions: providerOptions as NonNullable<VendorCallOptions["providerOptions"]> }),
  };
}

/** Converts a request into the options of `doGenerate` and `doStream`. */
export function toCallOptions(
  request: ChatRequest,
  o: CallTarget & { readonly signal: AbortSignal },
): VendorCallOptions {
  const prompt = toPrompt(request.messages, o);
  const tools = toolOptions(request);
  setRequestMarks(
    { tools: (tools.tools ?? []) as readonly MarkableBlock[], prompt },
    request.cache,
    o.provider,
  );
  return {
    prompt: prompt as VendorCallOptions["prompt"], // the parts used here are equal in v2 and v3
    abortSignal: o.signal,
    ...tools,
    ...settingOptions(request, o.provider),
  };
}
