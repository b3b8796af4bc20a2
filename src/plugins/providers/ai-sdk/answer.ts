import type {
  ChatChunk,
  ChatModel,
  ChatResponse,
  FinishReason,
  ToolCall,
  Usage,
} from "../../../contracts/chat-model.js";
import type { Fields } from "../../../util/objects.js";
import type { JsonValue } from "../../../contracts/content.js";
import {
  reasoningChunks,
  reasoningParts,
  reasoningText,
  type ReasoningBlock,
} from "../shared/reasoning.js";
import { callData } from "./call-data.js";
import { InvalidResponseError } from "../shared/invalid-response-error.js";
import {
  readArguments,
  reasoningField,
  reportedFields,
  toolCallsField,
} from "../shared/wire-fields.js";
import { asFields, asText, asCount } from "../../../util/objects.js";

type JsonObject = Extract<JsonValue, { readonly [key: string]: JsonValue }>;

const FINISH_REASONS: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ["stop", "stop"],
  ["length", "length"],
  ["content-filter", "content_filter"],
  ["tool-calls", "tool_calls"],
]);

/** Reads the reason. In v3 and v4 it is a field next to the vendor's own value. */
function readFinishReason(value: unknown): FinishReason {
  return FINISH_REASONS.get(asFields(value)?.["unified"] ?? value) ?? "other";
}

/** Reads the token counts. They are flat in v2 and grouped in v3 and v4. */
function readUsage(value: unknown): Usage | undefined {
  const usage = asFields(value) ?? {};
  const input = asFields(usage["inputTokens"]);
  const output = asFields(usage["outputTokens"]);
  return reportedFields<Usage>({
    inputTokens: asCount(input?.["total"] ?? usage["inputTokens"]),
    outputTokens: asCount(output?.["total"] ?? usage["outputTokens"]),
    cachedInputTokens: asCount(input?.["cacheRead"] ?? usage["cachedInputTokens"]),
    cacheWriteInputTokens: asCount(input?.["cacheWrite"]),
    reasoningTokens: asCount(output?.["reasoning"] ?? usage["reasoningTokens"]),
  });
}

function readIdentity(value: unknown): Pick<ChatResponse, "responseId" | "modelId"> {
  const metadata = asFields(value) ?? {};
  const id = asText(metadata["id"]);
  const model = asText(metadata["modelId"]);
  return { ...(id === "" ? {} : { responseId: id }), ...(model === "" ? {} : { modelId: model }) };
}

function readToolCall(part: Fields): ToolCall {
  const name = asText(part["toolName"]);
  if (name === "")
    throw new InvalidResponseError("A tool call of the answer names no tool", { shown: part });
  return { id: asText(part["toolCallId"]), name, arguments: readArguments(part["input"]) };
}

/** Whether the framework, not the vendor, must execute a call. */
function isOurCall(part: Fields): boolean {
  return part["type"] === "tool-call" && part["providerExecuted"] !== true;
}

interface AnswerParts {
  readonly text: string;
  readonly reasoning: readonly ReasoningBlock[];
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: unknown;
  readonly usage: unknown;
  readonly identity: Pick<ChatResponse, "responseId" | "modelId">;
  readonly model: AnsweringModel;
}

/** The answering model, whose name is recorded in its reasoning. */
type AnsweringModel = Pick<ChatModel, "provider" | "modelId">;

function buildResponse(parts: AnswerParts): ChatResponse {
  const reason = readFinishReason(parts.finishReason);
  const isAsking = parts.toolCalls.length > 0 && (reason === "stop" || reason === "other");
  if (parts.text === "" && parts.toolCalls.length === 0 && reason === "other")
    throw new InvalidResponseError("The answer has no content, and no reason for it");
  const usage = readUsage(parts.usage);
  return {
    message: {
      role: "assistant",
      content: parts.text,
      ...toolCallsField(parts.toolCalls),
      ...reasoningParts(parts.reasoning, parts.model),
    },
    finishReason: isAsking ? "tool_calls" : reason,
    ...(usage === undefined ? {} : { usage }),
    ...reasoningField(reasoningText(parts.reasoning)),
    ...parts.identity,
  };
}

/** Reads the reasoning among the parts of an answer, with its position. */
function readReasoning(parts: readonly Fields[]): readonly ReasoningBlock[] {
  const blocks: ReasoningBlock[] = [];
  let hasText = false;
  let calls = 0;
  for (const part of parts) {
    hasText ||= part["type"] === "text" && part["text"] !== "";
    if (isOurCall(part)) calls++;
    if (part["type"] !== "reasoning") continue;
    const index = (hasText ? 1 : 0) + calls + blocks.length;
    blocks.push(reasoningBlock(asText(part["text"]), index, part["providerMetadata"]));
  }
  return blocks;
}

/**
 * Returns the metadata of a tool call as a hidden block of reasoning. An example is the signature
 * of the thought that led to the call. Returns no block for a call without metadata.
 */
function callDataBlocks(part: Fields): readonly ReasoningBlock[] {
  const metadata = asFields(part["providerMetadata"]);
  if (metadata === undefined) return [];
  const data = callData(asText(part["toolCallId"]), metadata as JsonObject); // JSON
  return [{ text: "", index: 0, data }];
}

/** Creates a block. Metadata of its provider are sent back with it. */
function reasoningBlock(text: string, index: number, metadata: unknown): ReasoningBlock {
  const data = asFields(metadata);
  return data === undefined ? { text, index } : { text, index, data: data as JsonObject }; // JSON
}

/**
 * Reads the result of `doGenerate`.
 * @throws InvalidResponseError for an invalid result
 */
export function readResult(value: unknown, model: AnsweringModel): ChatResponse {
  const result = asFields(value);
  const content = result?.["content"];
  if (result === undefined || !Array.isArray(content))
    throw new InvalidResponseError("The model's result has no content", { shown: value });
  const parts = content.map((part) => asFields(part) ?? {});
  return buildResponse({
    text: parts.map((part) => (part["type"] === "text" ? asText(part["text"]) : "")).join(""),
    reasoning: [...readReasoning(parts), ...parts.filter(isOurCall).flatMap(callDataBlocks)],
    model,
    toolCalls: parts.filter(isOurCall).map(readToolCall),
    finishReason: result["finishReason"],
    usage: result["usage"],
    identity: readIdentity(result["response"]),
  });
}

interface BegunBlock {
  text: string;
  /** Counts the blocks of reasoning. */
  readonly count: number;
  /** Position among all blocks of the message. */
  readonly index: number;
  metadata: unknown;
}

interface CallInProgress {
  readonly id: string;
  readonly name: string;
  arguments: string;
}

/** Assembles a streamed response from its parts. */
export class StreamedParts {
  readonly #calls: CallInProgress[] = [];
  #text = "";
  readonly #model: AnsweringModel;
  readonly #reasoning = new Map<unknown, BegunBlock>();
  readonly #callData: ReasoningBlock[] = [];
  #finish: Fields | undefined;
  #identity: Pick<ChatResponse, "responseId" | "modelId"> = {};

  constructor(model: AnsweringModel) {
    this.#model = model;
  }

  get text(): string {
    return this.#text;
  }

  add(value: unknown): readonly ChatChunk[] {
    const part = asFields(value) ?? {};
    switch (part["type"]) {
      case "text-delta":
        return this.#addText(asText(part["delta"]));
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#reason(part);
      case "tool-input-start":
        return part["providerExecuted"] === true
          ? []
          : this.#begin(asText(part["id"]), asText(part["toolName"]));
      case "tool-input-delta":
        return this.#addArguments(asText(part["id"]), asText(part["delta"]));
      case "tool-call":
        if (!isOurCall(part)) return [];
        this.#callData.push(...callDataBlocks(part));
        return this.#complete(readToolCall(part));
      case "response-metadata":
        this.#identity = { ...this.#identity, ...readIdentity(part) };
        return [];
      case "finish":
        this.#finish = part;
        return [];
      default:
        return [];
    }
  }

  /**
   * Returns the whole response.
   * @throws InvalidResponseError if the stream ended before the model finished
   */
  finish(): ChatResponse {
    if (this.#finish === undefined)
      throw new InvalidResponseError("The stream ended before the answer was complete");
    const { finishReason, usage } = this.#finish;
    return buildResponse({
      text: this.#text,
      reasoning: [
        ...[...this.#reasoning.values()].map(({ text, index, metadata }) =>
          reasoningBlock(text, index, metadata),
        ),
        ...this.#callData,
      ],
      model: this.#model,
      toolCalls: this.#calls.map((call) => ({ ...call })),
      finishReason,
      usage,
      identity: this.#identity,
    });
  }

  /**
   * Adds a part of a block of reasoning. Any part may contain metadata. The last metadata are used.
   */
  #reason(part: Fields): readonly ChatChunk[] {
    const id = part["id"];
    const others = (this.#text === "" ? 0 : 1) + this.#calls.length;
    const count = this.#reasoning.size;
    const block = this.#reasoning.get(id) ?? {
      text: "",
      count,
      index: others + count,
      metadata: undefined,
    };
    const piece = asText(part["delta"]);
    block.text += piece;
    block.metadata = part["providerMetadata"] ?? block.metadata;
    this.#reasoning.set(id, block);
    return reasoningChunks(block.count, piece);
  }

  #addText(text: string): readonly ChatChunk[] {
    this.#text += text;
    return text === "" ? [] : [{ type: "text", text }];
  }

  #begin(id: string, name: string): readonly ChatChunk[] {
    if (this.#calls.some((call) => call.id === id)) return [];
    this.#calls.push({ id, name, arguments: "" });
    return [{ type: "tool_call", index: this.#calls.length - 1, id, name }];
  }

  #addArguments(id: string, piece: string): readonly ChatChunk[] {
    const index = this.#calls.findIndex((call) => call.id === id);
    const call = this.#calls[index];
    if (call === undefined || piece === "") return [];
    call.arguments += piece;
    return [{ type: "tool_call", index, argumentsDelta: piece }];
  }

  /**
   * Handles a complete call. It repeats the parts sent before. If the model sends no parts, it is
   * the only source of the call.
   */
  #complete(call: ToolCall): readonly ChatChunk[] {
    const begun = this.#begin(call.id, call.name);
    const known = this.#calls.find((candidate) => candidate.id === call.id);
    return known === undefined || known.arguments !== ""
      ? begun
      : [...begun, ...this.#addArguments(call.id, call.arguments)];
  }
}
