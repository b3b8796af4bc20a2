import type { ChatChunk, ChatResponse, Usage } from "../../../../contracts/chat-model.js";
import { InvalidResponseError } from "../../shared/invalid-response-error.js";
import type { StreamedAnswer } from "../../shared/chat-protocol.js";
import type { Fields } from "../../../../util/objects.js";
import { StreamedCalls, type StreamedCall } from "../../shared/streamed-calls.js";
import { fallbackCallId, readArguments } from "../../shared/wire-fields.js";
import { reasoningChunks } from "../../shared/reasoning.js";
import { buildResponse, checkChoice, readIdentity, readTexts, readUsage } from "./answer.js";
import { asFields, asText } from "../../../../util/objects.js";

/** The part of an event that concerns a tool call. */
interface CallDelta {
  readonly vendorIndex: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly arguments: string | undefined;
}

function readCallDelta(value: unknown): CallDelta {
  const delta = asFields(value);
  if (delta === undefined)
    throw new InvalidResponseError("A tool call of the stream is not a JSON object", {
      shown: value,
    });
  const { index, function: target } = delta;
  const { name, arguments: piece } = asFields(target) ?? {};
  return {
    vendorIndex: typeof index === "number" ? index : undefined,
    id: asText(delta["id"]),
    name: asText(name),
    arguments: piece === undefined || piece === null ? undefined : readArguments(piece),
  };
}

/** Assembles a streamed response chunk by chunk, and returns what each chunk adds. */
export class StreamedCompletion implements StreamedAnswer {
  /** Always false, because an end mark closes the stream and no event does. */
  readonly isClosed = false;
  readonly #calls = new StreamedCalls<StreamedCall>();
  #content = "";
  #reasoning = "";
  #isReturned = false;
  #refusal = "";
  #finishReason: unknown;
  #usage: Usage | undefined;
  #identity: Pick<ChatResponse, "responseId" | "modelId"> = {};

  /** The text received so far. */
  get text(): string {
    return this.#content + this.#refusal;
  }

  /** Whether the model has sent its finish reason. After that, only the usage may follow. */
  get isFinished(): boolean {
    return this.#finishReason !== undefined;
  }

  add(document: Fields): ChatChunk[] {
    this.#identity = { ...this.#identity, ...readIdentity(document) };
    this.#usage = readUsage(document["usage"]) ?? this.#usage;
    const choices: readonly unknown[] = Array.isArray(document["choices"])
      ? document["choices"]
      : [];
    return choices
      .map(asFields)
      .filter((choice) => choice !== undefined)
      .filter((choice) => (choice["index"] ?? 0) === 0)
      .flatMap((choice) => this.#addChoice(choice));
  }

  finish(): ChatResponse {
    if (!this.isFinished)
      throw new InvalidResponseError("The stream ended before the answer was complete");
    const toolCalls = this.#calls.finished().map((call, index) => {
      if (call.name === "")
        throw new InvalidResponseError(`Tool call ${index} of the stream names no function`);
      return call.id === ""
        ? { ...call, id: fallbackCallId(this.#identity.responseId, index) }
        : call;
    });
    return buildResponse({
      content: this.#content,
      reasoning: this.#reasoning,
      isReturned: this.#isReturned,
      refusal: this.#refusal,
      toolCalls,
      finishReason: this.#finishReason,
      usage: this.#usage,
      identity: this.#identity,
    });
  }

  #addChoice(choice: Fields): ChatChunk[] {
    checkChoice(choice);
    const delta = asFields(choice["delta"]) ?? {};
    const chunks: ChatChunk[] = [];
    const refusal = delta["refusal"];
    const { text, thought, isReturned } = readTexts(delta);
    this.#isReturned ||= isReturned;
    this.#reasoning += thought;
    chunks.push(...reasoningChunks(0, thought));
    if (text !== "") {
      this.#content += text;
      chunks.push({ type: "text", text });
    }
    if (typeof refusal === "string" && refusal !== "") {
      this.#refusal += refusal;
      chunks.push({ type: "text", text: refusal });
    }
    const calls: readonly unknown[] = Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : [];
    for (const call of calls) chunks.push(this.#addToolCall(readCallDelta(call)));
    const reason = choice["finish_reason"];
    if (typeof reason === "string" && reason !== "") this.#finishReason = reason;
    return chunks;
  }

  #addToolCall(delta: CallDelta): ChatChunk {
    const index = this.#positionFor(delta);
    const call = this.#calls.at(index);
    const isNewId = delta.id !== "" && call?.id === "";
    const isNewName = delta.name !== "" && call?.name === "";
    const { arguments: piece } = delta;
    if (call !== undefined) {
      if (isNewId) call.id = delta.id;
      if (isNewName) call.name = delta.name;
      if (piece !== undefined) call.arguments = (call.arguments ?? "") + piece;
    }
    return {
      type: "tool_call",
      index,
      ...(isNewId ? { id: delta.id } : {}),
      ...(isNewName ? { name: delta.name } : {}),
      ...(piece === undefined || piece === "" ? {} : { argumentsDelta: piece }),
    };
  }

  /**
   * Returns the position of the call that a delta continues. Some servers omit the index, or use
   * the index 0 for every call. For them a new id begins a new call.
   */
  #positionFor({ vendorIndex, id, name }: CallDelta): number {
    const { count } = this.#calls;
    const position = vendorIndex === undefined ? count - 1 : this.#calls.positionOf(vendorIndex);
    const known = this.#calls.at(position);
    const beginsAnother = name !== "" && id !== "" && known?.id !== "" && known?.id !== id;
    return position === undefined || known === undefined || beginsAnother
      ? this.#calls.add(vendorIndex ?? count, { id: "", name: "" })
      : position;
  }
}
