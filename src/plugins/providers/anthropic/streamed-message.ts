import type { ChatChunk, ChatResponse } from "../../../contracts/chat-model.js";
import { BadAnswer } from "../shared/bad-answer.js";
import type { StreamedAnswer } from "../shared/chat-protocol.js";
import { asFields, asText, readArguments, type Fields } from "../shared/wire-fields.js";
import { buildResponse, readIdentity, readToolUse } from "./answer.js";

interface CallInProgress {
  readonly blockIndex: unknown;
  readonly id: string;
  readonly name: string;
  /** What the block began with: usually nothing, but some servers give everything at once. */
  readonly input: unknown;
  arguments: string;
}

/** The fields that say something: the vendor repeats counts in later events, as null where they do not apply. */
function known(fields: unknown): Fields {
  return Object.fromEntries(
    Object.entries(asFields(fields) ?? {}).filter(
      ([, value]) => value !== null && value !== undefined,
    ),
  );
}

/** Puts a streamed answer together, event by event. */
export class StreamedMessage implements StreamedAnswer {
  readonly #calls: CallInProgress[] = [];
  #text = "";
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
    if (!this.isFinished) throw new BadAnswer("The stream ended before the answer was complete");
    const toolCalls = this.#calls.map((call) => ({
      id: call.id,
      name: call.name,
      arguments: call.arguments === "" ? "{}" : call.arguments,
    }));
    return buildResponse({
      text: this.#text,
      toolCalls,
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
    if (block["type"] !== "tool_use") return [];
    const index = this.#calls.length;
    const { id, name } = readToolUse(block, index, this.#identity.responseId);
    this.#calls.push({ blockIndex, id, name, input: block["input"], arguments: "" });
    return [{ type: "tool_call", index, id, name }];
  }

  #extend(delta: Fields, blockIndex: unknown): readonly ChatChunk[] {
    if (delta["type"] === "text_delta") return this.#addText(asText(delta["text"]));
    return delta["type"] === "input_json_delta"
      ? this.#addArguments(blockIndex, asText(delta["partial_json"]))
      : [];
  }

  #complete(blockIndex: unknown): readonly ChatChunk[] {
    const call = this.#calls.findLast((candidate) => candidate.blockIndex === blockIndex);
    if (call === undefined || call.arguments !== "") return [];
    return this.#addArguments(blockIndex, readArguments(call.input));
  }

  #addText(text: string): readonly ChatChunk[] {
    this.#text += text;
    return text === "" ? [] : [{ type: "text", text }];
  }

  #addArguments(blockIndex: unknown, piece: string): readonly ChatChunk[] {
    const index = this.#calls.findLastIndex((candidate) => candidate.blockIndex === blockIndex);
    const call = this.#calls[index];
    // Deltas of the vendor's own tools, which it runs itself.
    if (call === undefined || piece === "") return [];
    call.arguments += piece;
    return [{ type: "tool_call", index, argumentsDelta: piece }];
  }
}
