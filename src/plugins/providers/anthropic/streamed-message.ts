import type { ChatChunk, ChatResponse } from "../../../contracts/chat-model.js";
import { InvalidResponseError } from "../shared/invalid-response-error.js";
import type { StreamedAnswer } from "../shared/chat-protocol.js";
import type { Fields } from "../../../util/objects.js";
import { StreamedCalls, type StreamedCall } from "../shared/streamed-calls.js";
import { readArguments } from "../shared/wire-fields.js";
import { reasoningChunks } from "../shared/reasoning.js";
import {
  blocksOfText,
  buildResponse,
  isReasoning,
  readIdentity,
  readReasoning,
  readToolUse,
} from "./answer.js";
import { asFields, asText } from "../../../util/objects.js";

interface CallInProgress extends StreamedCall {
  /**
   * The initial content of the block. It is usually empty, but some servers send the complete
   * content at once.
   */
  readonly input: unknown;
}

/** The field of a block that each kind of delta extends. */
const REASONING_FIELDS: Readonly<Record<string, string>> = {
  thinking_delta: "thinking",
  signature_delta: "signature",
};

interface BegunReasoning {
  /** Counts the blocks of reasoning. */
  readonly index: number;
  /** Position among all blocks of the message. */
  readonly position: number;
  readonly block: Record<string, unknown>;
}

/**
 * Returns the fields that are not null. In later events the vendor repeats counts, as null if they
 * do not apply.
 */
function known(fields: unknown): Fields {
  return Object.fromEntries(
    Object.entries(asFields(fields) ?? {}).filter(
      ([, value]) => value !== null && value !== undefined,
    ),
  );
}

/** Assembles a streamed response event by event. */
export class StreamedMessage implements StreamedAnswer {
  readonly #calls = new StreamedCalls<CallInProgress>();
  #text = "";
  /** Blocks of reasoning by the vendor's index, as received so far. */
  readonly #reasoning = new Map<unknown, BegunReasoning>();
  #stopReason: unknown;
  #usage: Fields = {};
  #identity: Pick<ChatResponse, "responseId" | "modelId"> = {};
  #isClosed = false;

  get text(): string {
    return this.#text;
  }

  get isFinished(): boolean {
    return this.#stopReason !== undefined || this.#isClosed;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(event: Fields): readonly ChatChunk[] {
    switch (event["type"]) {
      case "message_start":
        this.#start(asFields(event["message"]) ?? {});
        return [];
      case "content_block_start":
        return this.#begin(asFields(event["content_block"]) ?? {}, event["index"]);
      case "content_block_delta":
        return this.#extend(asFields(event["delta"]) ?? {}, event["index"]);
      case "content_block_stop":
        return this.#complete(event["index"]);
      case "message_delta":
        this.#stopReason = known(event["delta"])["stop_reason"] ?? this.#stopReason;
        this.#usage = { ...this.#usage, ...known(event["usage"]) };
        return [];
      case "message_stop":
        this.#isClosed = true;
        return [];
      default:
        return [];
    }
  }

  finish(): ChatResponse {
    if (!this.isFinished)
      throw new InvalidResponseError("The stream ended before the answer was complete");
    return buildResponse({
      text: this.#text,
      reasoning: [...this.#reasoning.values()].map(({ block, position }) =>
        readReasoning(block, position),
      ),
      toolCalls: this.#calls.finished(),
      stopReason: this.#stopReason,
      usage: this.#usage,
      identity: this.#identity,
    });
  }

  #start(message: Fields): void {
    this.#identity = readIdentity(message);
    this.#usage = known(message["usage"]);
  }

  #begin(block: Fields, blockIndex: unknown): readonly ChatChunk[] {
    if (block["type"] === "text") return this.#addText(asText(block["text"]));
    if (isReasoning(block)) return this.#beginReasoning(block, blockIndex);
    if (block["type"] !== "tool_use") return [];
    const { id, name } = readToolUse(block, this.#calls.count, this.#identity.responseId);
    const index = this.#calls.add(blockIndex, { id, name, input: block["input"] });
    return [{ type: "tool_call", index, id, name }];
  }

  #extend(delta: Fields, blockIndex: unknown): readonly ChatChunk[] {
    if (delta["type"] === "text_delta") return this.#addText(asText(delta["text"]));
    return delta["type"] === "input_json_delta"
      ? this.#addArguments(blockIndex, asText(delta["partial_json"]))
      : this.#extendReasoning(delta, blockIndex);
  }

  #beginReasoning(block: Fields, blockIndex: unknown): readonly ChatChunk[] {
    const index = this.#reasoning.size;
    const position = blocksOfText(this.#text) + this.#calls.count + index;
    this.#reasoning.set(blockIndex, { index, position, block: { ...block } });
    return reasoningChunks(index, asText(block["thinking"]));
  }

  #extendReasoning(delta: Fields, blockIndex: unknown): readonly ChatChunk[] {
    const begun = this.#reasoning.get(blockIndex);
    const field = REASONING_FIELDS[asText(delta["type"])];
    if (begun === undefined || field === undefined) return [];
    const piece = asText(delta[field]);
    begun.block[field] = asText(begun.block[field]) + piece;
    return field === "thinking" ? reasoningChunks(begun.index, piece) : [];
  }

  #complete(blockIndex: unknown): readonly ChatChunk[] {
    const call = this.#calls.at(this.#calls.positionOf(blockIndex));
    if (call === undefined || call.arguments !== undefined) return [];
    return this.#addArguments(blockIndex, readArguments(call.input));
  }

  #addText(text: string): readonly ChatChunk[] {
    this.#text += text;
    return text === "" ? [] : [{ type: "text", text }];
  }

  #addArguments(blockIndex: unknown, piece: string): readonly ChatChunk[] {
    const index = this.#calls.positionOf(blockIndex);
    const call = this.#calls.at(index);
    // Skips deltas of the vendor's own tools, because the vendor runs these tools.
    if (index === undefined || call === undefined || piece === "") return [];
    call.arguments = (call.arguments ?? "") + piece;
    return [{ type: "tool_call", index, argumentsDelta: piece }];
  }
}
