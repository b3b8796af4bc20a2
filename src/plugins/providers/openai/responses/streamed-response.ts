import type { ChatChunk, ChatResponse } from "../../../../contracts/chat-model.js";
import { InvalidResponseError, ErrorDocument } from "../../shared/invalid-response-error.js";
import type { StreamedAnswer } from "../../shared/chat-protocol.js";
import type { Fields } from "../../../../util/objects.js";
import { StreamedCalls, type StreamedCall } from "../../shared/streamed-calls.js";
import {
  buildResponse,
  checkEnded,
  readFrame,
  readFunctionCall,
  readMessageText,
  readOutput,
  thoughtOf,
  type AnswerFrame,
} from "./answer.js";
import { reasoningChunks } from "../../shared/reasoning.js";
import { asFields, asText } from "../../../../util/objects.js";

/** Assembles a streamed response of the Responses API. */
export class StreamedResponse implements StreamedAnswer {
  readonly #calls = new StreamedCalls<StreamedCall>();
  /** Output items with text received so far. */
  readonly #begunTexts = new Set<unknown>();
  /** Output items of reasoning: the number of earlier ones, and the last received part. */
  readonly #thoughts = new Map<unknown, { readonly count: number; part?: string }>();
  #text = "";
  #refusal = "";
  #responseId: string | undefined;
  #frame: AnswerFrame | undefined;

  get text(): string {
    return this.#text + this.#refusal;
  }

  get isFinished(): boolean {
    return this.#frame !== undefined;
  }

  get isClosed(): boolean {
    return this.#frame !== undefined;
  }

  add(event: Fields): readonly ChatChunk[] {
    const index = event["output_index"];
    const item = asFields(event["item"]) ?? {};
    const delta = asText(event["delta"]);
    switch (event["type"]) {
      case "response.output_item.added":
        return this.#begin(item, index);
      case "response.output_text.delta":
        return this.#addText(index, delta, "");
      case "response.refusal.delta":
        return this.#addText(index, "", delta);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#addThought(index, delta, partName(event));
      case "response.function_call_arguments.delta":
        return this.#addArguments(index, delta);
      case "response.output_item.done":
        return this.#complete(item, index);
      case "error":
        throw new ErrorDocument({ error: event });
      default:
        return this.#addResponse(event);
    }
  }

  finish(): ChatResponse {
    if (this.#frame === undefined)
      throw new InvalidResponseError("The stream ended before the answer was complete");
    return buildResponse({
      text: this.#text,
      refusal: this.#refusal,
      toolCalls: this.#calls.finished(),
      frame: this.#frame,
    });
  }

  /**
   * Handles an event that contains the response. The last such event repeats the deltas. If the
   * server sent no deltas, it is the only source of the content.
   */
  #addResponse(event: Fields): readonly ChatChunk[] {
    const response = asFields(event["response"]);
    switch (event["type"]) {
      case "response.created":
        this.#responseId = asText(response?.["id"]);
        return [];
      case "response.failed":
        throw new ErrorDocument({ error: response?.["error"] ?? event["response"] });
      case "response.completed":
      case "response.incomplete":
        return this.#end(response);
      default:
        return [];
    }
  }

  #end(response: Fields | undefined): readonly ChatChunk[] {
    if (response === undefined)
      throw new InvalidResponseError("The stream completed without a response");
    checkEnded(response);
    const cameInPieces = this.#calls.count > 0 || this.#begunTexts.size > 0;
    const chunks = cameInPieces
      ? []
      : readOutput(response).flatMap((item, index) => this.#complete(item, index));
    this.#frame = readFrame(response);
    return chunks;
  }

  #begin(item: Fields, outputIndex: unknown): readonly ChatChunk[] {
    if (item["type"] === "reasoning") this.#thoughtAt(outputIndex);
    if (item["type"] !== "function_call") return [];
    const { id, name } = readFunctionCall(item, this.#calls.count, this.#responseId);
    return [{ type: "tool_call", index: this.#calls.add(outputIndex, { id, name }), id, name }];
  }

  #addText(outputIndex: unknown, text: string, refusal: string): readonly ChatChunk[] {
    this.#begunTexts.add(outputIndex);
    this.#text += text;
    this.#refusal += refusal;
    return text + refusal === "" ? [] : [{ type: "text", text: text + refusal }];
  }

  #thoughtAt(outputIndex: unknown): { readonly count: number; part?: string } {
    const thought = this.#thoughts.get(outputIndex) ?? { count: this.#thoughts.size };
    this.#thoughts.set(outputIndex, thought);
    return thought;
  }

  /** Adds reasoning. The parts of an item form one block, with a blank line between them. */
  #addThought(outputIndex: unknown, text: string, part: string): readonly ChatChunk[] {
    const thought = this.#thoughtAt(outputIndex);
    const isNext = thought.part !== undefined && thought.part !== part;
    thought.part = part;
    return reasoningChunks(thought.count, (isNext ? "\n\n" : "") + text);
  }

  #addArguments(outputIndex: unknown, piece: string): readonly ChatChunk[] {
    const index = this.#calls.positionOf(outputIndex);
    const call = this.#calls.at(index);
    if (index === undefined || call === undefined)
      throw new InvalidResponseError("The stream has arguments for a call that it did not begin", {
        shown: outputIndex,
      });
    if (piece === "") return [];
    call.arguments = (call.arguments ?? "") + piece;
    return [{ type: "tool_call", index, argumentsDelta: piece }];
  }

  /**
   * Handles a finished item. It repeats the deltas. If the server sent no deltas, it is the only
   * source of the item.
   */
  #complete(item: Fields, outputIndex: unknown): readonly ChatChunk[] {
    if (item["type"] === "message" && !this.#begunTexts.has(outputIndex)) {
      const { text, refusal } = readMessageText(item);
      return this.#addText(outputIndex, text, refusal);
    }
    if (item["type"] === "reasoning" && this.#thoughtAt(outputIndex).part === undefined)
      return this.#addThought(outputIndex, thoughtOf(item), "");
    if (item["type"] !== "function_call") return [];
    const begun = this.#calls.at(this.#calls.positionOf(outputIndex));
    if (begun?.arguments !== undefined) return [];
    return [
      ...(begun === undefined ? this.#begin(item, outputIndex) : []),
      ...this.#addArguments(outputIndex, asText(item["arguments"])),
    ];
  }
}

/** Names the part of an item of reasoning that an event extends. */
function partName(event: Fields): string {
  return `${asText(event["type"])} ${String(event["summary_index"] ?? event["content_index"])}`;
}
