import type { ChatChunk, ChatResponse } from "../../../../contracts/chat-model.js";
import { BadAnswer, ErrorDocument } from "../../shared/bad-answer.js";
import type { StreamedAnswer } from "../../shared/chat-protocol.js";
import { asFields, asText, fallbackCallId, type Fields } from "../../shared/wire-fields.js";
import {
  buildResponse,
  readFrame,
  readFunctionCall,
  readMessageText,
  type AnswerFrame,
} from "./answer.js";

interface CallInProgress {
  readonly outputIndex: unknown;
  readonly id: string;
  readonly name: string;
  arguments: string;
}

/** Puts a streamed answer of the Responses API together. */
export class StreamedResponse implements StreamedAnswer {
  readonly #calls: CallInProgress[] = [];
  /** The items of the output of which some text has come. */
  readonly #begunTexts = new Set<unknown>();
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
    switch (event["type"]) {
      case "response.created":
        this.#responseId = asText(asFields(event["response"])?.["id"]);
        return [];
      case "response.output_item.added":
        return this.#begin(asFields(event["item"]) ?? {}, index);
      case "response.output_text.delta":
        return this.#addText(index, asText(event["delta"]), "");
      case "response.refusal.delta":
        return this.#addText(index, "", asText(event["delta"]));
      case "response.function_call_arguments.delta":
        return this.#addArguments(index, asText(event["delta"]));
      case "response.output_item.done":
        return this.#complete(asFields(event["item"]) ?? {}, index);
      case "response.completed":
      case "response.incomplete":
        this.#frame = readFrame(asFields(event["response"]) ?? {});
        return [];
      case "response.failed":
        throw new ErrorDocument({
          error: asFields(event["response"])?.["error"] ?? event["response"],
        });
      case "error":
        throw new ErrorDocument({ error: event });
      default:
        return [];
    }
  }

  finish(): ChatResponse {
    if (this.#frame === undefined)
      throw new BadAnswer("The stream ended before the answer was complete");
    const toolCalls = this.#calls.map((call) => ({
      id: call.id,
      name: call.name,
      arguments: call.arguments === "" ? "{}" : call.arguments,
    }));
    return buildResponse({
      text: this.#text,
      refusal: this.#refusal,
      toolCalls,
      frame: this.#frame,
    });
  }

  #begin(item: Fields, outputIndex: unknown): readonly ChatChunk[] {
    if (item["type"] !== "function_call") return [];
    const { id, name } = readFunctionCall(item, this.#calls.length, this.#responseId);
    this.#calls.push({
      outputIndex,
      id: id === "" ? fallbackCallId(this.#responseId, this.#calls.length) : id,
      name,
      arguments: "",
    });
    return [{ type: "tool_call", index: this.#calls.length - 1, id, name }];
  }

  #addText(outputIndex: unknown, text: string, refusal: string): readonly ChatChunk[] {
    this.#begunTexts.add(outputIndex);
    this.#text += text;
    this.#refusal += refusal;
    return text + refusal === "" ? [] : [{ type: "text", text: text + refusal }];
  }

  #addArguments(outputIndex: unknown, piece: string): readonly ChatChunk[] {
    const index = this.#calls.findIndex((call) => call.outputIndex === outputIndex);
    const call = this.#calls[index];
    if (call === undefined)
      throw new BadAnswer("The stream has arguments for a call that it did not begin", {
        shown: outputIndex,
      });
    call.arguments += piece;
    return piece === "" ? [] : [{ type: "tool_call", index, argumentsDelta: piece }];
  }

  /** An item that is done repeats what came in pieces; a server that sent no pieces gives everything here. */
  #complete(item: Fields, outputIndex: unknown): readonly ChatChunk[] {
    if (item["type"] === "message" && !this.#begunTexts.has(outputIndex)) {
      const { text, refusal } = readMessageText(item);
      return this.#addText(outputIndex, text, refusal);
    }
    if (item["type"] !== "function_call") return [];
    const begun = this.#calls.find((call) => call.outputIndex === outputIndex);
    if (begun !== undefined && begun.arguments !== "") return [];
    return [
      ...(begun === undefined ? this.#begin(item, outputIndex) : []),
      ...this.#addArguments(outputIndex, asText(item["arguments"])),
    ];
  }
}
